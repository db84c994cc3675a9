"""All samplers keep the promises of their kind."""

from anonloom_sampling.samplers import PreSample, SimpleRandom, Stratified
from anonloom_testing import SamplerConformance


class TestStratifiedShare(SamplerConformance):
    method = Stratified
    params = {"share": 0.7}
    rate = 0.7


class TestStratifiedNumber(SamplerConformance):
    method = Stratified
    params = {"per_class": 5}


class TestStratifiedRemoval(SamplerConformance):
    method = Stratified
    params = {"remove": 7}


class TestSimpleRandom(SamplerConformance):
    method = SimpleRandom
    params = {"share": 0.3}
    rate = 0.3


class TestPreSampleShare(SamplerConformance):
    method = PreSample
    params = {"share": 0.3}
    rate = 0.3


class TestPreSampleNumber(SamplerConformance):
    method = PreSample
    params = {"rows": 50}

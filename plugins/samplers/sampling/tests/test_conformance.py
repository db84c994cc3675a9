"""All samplers keep the promises of their kind."""

from anonloom_sampling.samplers import PreSampler, SimpleRandomSampler, StratifiedSampler
from anonloom_testing import SamplerConformance


class TestStratifiedShare(SamplerConformance):
    method = StratifiedSampler
    params = {"share": 0.7}
    rate = 0.7


class TestStratifiedNumber(SamplerConformance):
    method = StratifiedSampler
    params = {"per_class": 5}


class TestStratifiedRemoval(SamplerConformance):
    method = StratifiedSampler
    params = {"remove": 7}


class TestSimpleRandomSampler(SamplerConformance):
    method = SimpleRandomSampler
    params = {"share": 0.3}
    rate = 0.3


class TestPreSampleShare(SamplerConformance):
    method = PreSampler
    params = {"share": 0.3}
    rate = 0.3


class TestPreSampleNumber(SamplerConformance):
    method = PreSampler
    params = {"rows": 50}

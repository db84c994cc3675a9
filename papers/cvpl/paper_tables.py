"""The figures of the paper that ours are put beside, with their tables."""

#: Table 12: regime of k, CVPL-LR, TLR, 1/k.
TABLE_12 = {
    "k = 2 to 7": (0.032, 0.00, "0.14 to 0.50"),
    "k = 10 to 50": (0.149, 0.148, "0.02 to 0.10"),
}
#: Where its second regime begins.
HIGH_K = 10
#: Section 8.2: the rate at similarity 0.70, at k of 10 and more.
PEAK = 0.36

#: Table 13: CVPL-LR, FS-LR, CVPL-P@1, FS-P@1, utility, DCR, NNDR.
TABLE_13 = {
    "k-anonymity, k = 5": (0.032, 0.171, 0.000, 0.000, 0.963, 1.160, 0.950),
    "k-anonymity, k = 10": (0.149, 1.000, 0.796, 0.368, 0.964, 1.000, 1.000),
    "k-anonymity, k = 20": (0.149, 1.000, 0.796, 0.368, 0.964, 1.000, 1.000),
    "perturbation, low": (0.803, 0.998, 0.947, 0.464, 0.983, 0.155, 0.650),
    "perturbation, medium": (0.590, 0.997, 0.861, 0.271, 0.960, 0.185, 0.688),
    "perturbation, high": (0.364, 0.997, 0.675, 0.142, 0.923, 0.208, 0.702),
    "synthetic, rho = 0.95": (0.185, 0.985, 0.005, 0.000, 0.792, 0.187, 0.692),
    "synthetic, rho = 0.90": (0.185, 0.985, 0.005, 0.000, 0.791, 0.187, 0.692),
    "synthetic, rho = 0.85": (0.184, 0.985, 0.005, 0.000, 0.791, 0.187, 0.692),
    "synthetic, rho = 0.80": (0.184, 0.985, 0.005, 0.000, 0.793, 0.187, 0.691),
    "synthetic, rho = 0.75": (0.185, 0.985, 0.005, 0.000, 0.795, 0.187, 0.692),
    "synthetic, rho = 0.70": (0.184, 0.984, 0.005, 0.000, 0.792, 0.187, 0.692),
    "synthetic, rho = 0.60": (0.185, 0.983, 0.005, 0.000, 0.795, 0.187, 0.692),
}

#: The last row of Table 13, means over the others.
TABLE_13_AVERAGE = (0.260, 0.927, 0.316, 0.124, 0.870, 0.386, 0.756)

#: Section 8.9: Pearson and Spearman of the linkage rate and the utility, each with its p.
UTILITY_AND_RISK = (0.43, 0.14, -0.02, 0.95)

#: Table 15: CVPL-LR, P@1, utility.
TABLE_15 = {
    "perturbation, low": (0.803, 0.947, 0.983),
    "perturbation, medium": (0.590, 0.861, 0.960),
    "perturbation, high": (0.364, 0.675, 0.923),
}

#: Table 16: DCR, P@1.
TABLE_16 = {"perturbation, high": (0.208, 0.675), "synthetic (mean)": (0.187, 0.005)}

#: Table 19: share of the contribution; our columns that make up each of its categories.
TABLE_19 = {
    "region (QI)": (0.235, "region"),
    "temporal patterns": (0.201, "purchase_time"),
    "ad channel": (0.151, "ad_channel"),
    "purchase place": (0.089, "purchase_place"),
    "response timing": (0.089, "days_after_ad"),
    "age (QI)": (0.087, "age"),
    "product preferences": (0.074, "brand_product"),
    "gender (QI)": (0.073, "gender"),
}

#: Table 20: share of outliers -> std dev, 95th percentile, P(> 0.5), P(> 0.7).
TABLE_20 = {0.0: (0.08, 0.27, 0.0, 0.0), 0.01: (0.08, 0.28, 0.002, 0.001),
            0.05: (0.12, 0.31, 0.016, 0.009)}  # fmt: skip

#: Section 8.11: CVPL-LR with all keys, without the second level of the region, without the region.
LADDER = (0.48, 0.65, 0.70)

#: Tables 23 to 26: CVPL-LR and P@1, where the paper gives one.
TABLE_23 = {
    "default": (0.42, None),
    "no blocking": (0.61, None),
    "weak": (0.55, None),
    "strong": (0.28, None),
    "ensemble": (0.45, None),
}
TABLE_24 = {
    "pca": (0.42, 0.78),
    "none": (0.55, 0.65),
    "robust": (0.40, 0.79),
    "umap": (0.43, 0.76),
    "random": (0.48, 0.69),
}
TABLE_25 = {
    "cosine": (0.42, 0.78),
    "rbf (Euclidean)": (0.47, 0.72),
    "whitened (Mahalanobis)": (0.40, 0.80),
    "jaccard": (0.34, 0.62),
}
TABLE_26 = {"joint": (0.42, 0.78), "source": (0.38, 0.81), "target": (0.35, 0.75)}

#: Section 8.7: share of synthetic records whose closest original is 'the same individual'.
RCE = 0.812
#: Section 8.10: share of the contribution that is not of quasi-identifiers.
NOT_QUASI = 0.604

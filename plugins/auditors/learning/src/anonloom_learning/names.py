"""What classifiers and figures are called, and what the figures mean."""

from typing import Literal, get_args

Classifier = Literal[
    "decision-tree",
    "naive-bayes",
    "k-nearest-neighbours",
    "svm",
    "random-forest",
    "logistic-regression",
    "adaboost",
    "bagging",
]
ALL: tuple[Classifier, ...] = get_args(Classifier)

#: As they are called in a sentence.
CLASSIFIERS: dict[str, str] = {
    "decision-tree": "a decision tree",
    "naive-bayes": "naive Bayes",
    "k-nearest-neighbours": "the nearest neighbours",
    "svm": "a support vector machine",
    "random-forest": "a random forest",
    "logistic-regression": "logistic regression",
    "adaboost": "AdaBoost",
    "bagging": "bagging",
}

METRICS = ("accuracy", "precision", "recall", "f1")

#: Metrics whose loss is a finding of its own.
LOSSES = ("accuracy", "f1")

ANSWERS = {
    "accuracy": "Share of the rows that {who} predicts right, learned from the release.",
    "precision": "Share of the rows that {who}, learned from the release, calls positive that are.",
    "recall": "Share of the positive rows that {who}, learned from the release, calls so.",
    "f1": "Harmonic mean of precision and recall of {who}, learned from the release.",
}

SINGLE = {
    "accuracy_loss": "Accuracy of {who} learned from the original, less that of one learned from "
    "the release; negative where the release does better.",
    "f1_loss": "F1 of {who} learned from the original, less that of one learned from the release; "
    "negative where the release does better.",
    "largest_accuracy_loss": "The accuracy that the classifier loses most of all.",
    "majority_accuracy": "What always guessing the most frequent label gets right: an accuracy is "
    "learning only as far as it is above.",
    "accuracy_over_majority": "How much more often the best classifier is right than one who "
    "always guesses the most frequent label; 0 or less: nothing is learned.",
    "rows": "Rows of the release that were used, to learn from or to judge by.",
    "not_converged": "Models that were stopped before they came to rest, whose figures might "
    "change with more steps.",
}

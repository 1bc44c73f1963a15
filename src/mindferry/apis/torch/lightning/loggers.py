"""Lightning's loggers: a table in a file, or event files; those that talk to a service stay with it."""

from ... import Case, rule

for _name in ("CSVLogger", "TensorBoardLogger"):
    rule(
        f"pytorch_lightning.loggers.{_name}",
        to=f"compat.{_name}",
        like=f"compat.{_name}",
        cases=[
            Case(
                f"pytorch_lightning.loggers.{_name}('logs', name='a')",
                f"ms_compat.{_name}('logs', name='a')",
                runs=False,
                why="tests/lightning logs with it",
            ),
        ],
    )
rule(
    "pytorch_lightning.loggers.Logger",
    to="compat.Logger",
    like="compat.Logger",
    cases=[
        Case("pytorch_lightning.loggers.Logger", "ms_compat.Logger", runs=False, why="a base class"),
        Case("lightning.pytorch.loggers.logger.Logger", "ms_compat.Logger", runs=False, why="a base class"),
    ],
)
for _name in ("WandbLogger", "MLFlowLogger", "CometLogger", "NeptuneLogger", "LitLogger"):
    rule(
        f"pytorch_lightning.loggers.{_name}",
        missing="talks to a service through Lightning",
        strategy="wrapper",
        advice="derive a class from Logger that calls the service's own package in log_metrics(), or use CSVLogger",
    )

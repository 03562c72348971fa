"""The core of exactref: formats, exact arithmetic, operations, standards and judgement."""

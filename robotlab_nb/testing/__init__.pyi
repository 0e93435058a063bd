# The public names, once. `__init__.py` loads each on first use.
from .conformance import CASES as CASES
from .conformance import Case as Case
from .conformance import check_model as check_model
from .conformance import run_case as run_case
from .mcp_fault_server import MCPFaultServer as MCPFaultServer
from .notebook_runs import NotebookRun as NotebookRun
from .recorded import Recorded as Recorded
from .replies import Call as Call
from .replies import Reply as Reply
from .scripted import ScriptedModel as ScriptedModel
from .server import ModelServer as ModelServer

# The public names, once. `__init__.py` loads each on first use.
from .asked import RemoteQuestion as RemoteQuestion
from .clients import Client as Client
from .registry import session_of as session_of
from .registry import sessions as sessions
from .remote_results import RemoteResult as RemoteResult
from .remote_tools import RemoteTool as RemoteTool
from .servers import Server as Server
from .serving import ServedCall as ServedCall
from .serving import Serving as Serving
from .serving import serve as serve
from .serving import servings as servings
from .session import Session as Session
from .transport_registry import register_transport as register_transport
from .trusting import approve as approve
from .trusting import distrust as distrust
from .trusting import trusted as trusted

PRAGMA application_id=1380740706;
BEGIN TRANSACTION;
CREATE TABLE cells (
	root_id TEXT NOT NULL, 
	seq BIGINT NOT NULL, 
	cell_key TEXT NOT NULL, 
	PRIMARY KEY (root_id, seq)
);
INSERT INTO "cells" VALUES('d622cd01f2b3',2,'9ea725c4c8597379be3cbc74657d474650da0d7b7e71b43893075db27525a4cd');
INSERT INTO "cells" VALUES('d622cd01f2b3',11,'9ea725c4c8597379be3cbc74657d474650da0d7b7e71b43893075db27525a4cd');
INSERT INTO "cells" VALUES('d622cd01f2b3',12,'9ea725c4c8597379be3cbc74657d474650da0d7b7e71b43893075db27525a4cd');
INSERT INTO "cells" VALUES('d622cd01f2b3',13,'45d7040607fd6d5241e6d84c4b27b95334c16ef6e754ab7b7f17e1f91b136ac7');
INSERT INTO "cells" VALUES('d622cd01f2b3',22,'45d7040607fd6d5241e6d84c4b27b95334c16ef6e754ab7b7f17e1f91b136ac7');
INSERT INTO "cells" VALUES('d622cd01f2b3',23,'45d7040607fd6d5241e6d84c4b27b95334c16ef6e754ab7b7f17e1f91b136ac7');
INSERT INTO "cells" VALUES('d622cd01f2b3',24,'714b8853ba87e2891c618802c5248e96666e33f9fc41b980b5fd5c1e083dfa66');
INSERT INTO "cells" VALUES('d622cd01f2b3',33,'714b8853ba87e2891c618802c5248e96666e33f9fc41b980b5fd5c1e083dfa66');
INSERT INTO "cells" VALUES('d622cd01f2b3',34,'714b8853ba87e2891c618802c5248e96666e33f9fc41b980b5fd5c1e083dfa66');
INSERT INTO "cells" VALUES('d622cd01f2b3',35,'0b74635b9333781f221ce4c1f011a5c33e8f2ad53d57bb593d8472738d3bd9d0');
INSERT INTO "cells" VALUES('d622cd01f2b3',44,'0b74635b9333781f221ce4c1f011a5c33e8f2ad53d57bb593d8472738d3bd9d0');
INSERT INTO "cells" VALUES('d622cd01f2b3',45,'0b74635b9333781f221ce4c1f011a5c33e8f2ad53d57bb593d8472738d3bd9d0');
CREATE TABLE events (
	root_id TEXT NOT NULL, 
	seq BIGINT NOT NULL, 
	scope_no BIGINT NOT NULL, 
	type TEXT NOT NULL, 
	elapsed DOUBLE, 
	data TEXT NOT NULL, 
	PRIMARY KEY (root_id, seq)
);
INSERT INTO "events" VALUES('ce2d4f3242de',0,0,'run.started',0.000737565000235918,'{"name":"adder","model":"scripted/model","provider":"scripted","simulated":true,"input":"What is 1 + 2?","config":{"log":{"value":null,"origin":"options"},"model":{"value":"scripted/model","origin":"robot"},"tools":{"value":["add"],"origin":"robot"}},"tools":["add"],"prompt_hash":"213c22ed7234eb11116e1e88f314c73cb3a019b5c87fe224b6ce5665bd9ec50e","schema_version":1,"started_at":"2026-11-30T21:49:39.768811+00:00"}');
INSERT INTO "events" VALUES('ce2d4f3242de',1,0,'message.added',1.10431860002790926955e-02,'{"message":{"id":"29cf1377644b46a67d4f3421c26b96c5667d28c8486de5225abb9fbcad4f8d59","role":"system","parts":[{"kind":"text","text":"Be brief."}]}}');
INSERT INTO "events" VALUES('ce2d4f3242de',2,0,'message.added',1.10780680006428156048e-02,'{"message":{"id":"e6fb5d1a68b7c1355a159631cf4377d823778d03e5a8d35619dd0d1af5330732","role":"user","parts":[{"kind":"text","text":"What is 1 + 2?"}]}}');
INSERT INTO "events" VALUES('ce2d4f3242de',3,0,'model_call.started',1.1291605000224080868e-02,'{"call_id":"ce2d4f3242de.1","round":1,"model":"scripted/model","provider":"scripted","endpoint":null,"simulated":true,"request_key":"de0bedafab669512537feb2d465666426292ddd7f5b0fa20d3a01bb974364d1f","message_ids":["29cf1377644b46a67d4f3421c26b96c5667d28c8486de5225abb9fbcad4f8d59","e6fb5d1a68b7c1355a159631cf4377d823778d03e5a8d35619dd0d1af5330732"],"tools":["add"],"params":{},"streaming":false,"tool_specs":[{"name":"add","description":"Add two integers.","parameters":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"],"additionalProperties":false}}]}');
INSERT INTO "events" VALUES('ce2d4f3242de',4,0,'attempt.completed',1.15842790000897366553e-02,'{"call_id":"ce2d4f3242de.1","attempt":1,"model":"scripted/model","started_s":8.12700000096811e-05,"duration_s":0.00022952099971007556}');
INSERT INTO "events" VALUES('ce2d4f3242de',5,0,'model_call.completed',1.16906470002504647709e-02,'{"call_id":"ce2d4f3242de.1","text":"","stop_reason":"tool","finish_reason":null,"usage":{"input_tokens":62,"output_tokens":5,"reasoning_tokens":null,"cached_tokens":null,"estimated":false,"cost_usd":0.0,"cost_complete":true,"calls":1},"attempts":1,"duration_s":0.0004162280001764884,"first_token_s":0.0002139270000043325,"response_id":null,"response_model":null}');
INSERT INTO "events" VALUES('ce2d4f3242de',6,0,'message.added',1.17626740002378937788e-02,'{"message":{"id":"773861bb7595d22ab6a54934df41781631a53b2391418f967ca057cfe1db41f9","role":"assistant","parts":[{"kind":"tool_call","name":"add","arguments":"{\"a\": 1, \"b\": 2}","id":"call_ce2d4f3242de_1"}]},"stop_reason":"tool"}');
INSERT INTO "events" VALUES('ce2d4f3242de',7,0,'tool_call.started',2.81049069999426137655e-02,'{"tool_call_id":"call_ce2d4f3242de_1","call_id":"ce2d4f3242de.1","round":1,"tool":"add","source":"function in make_golden.py","arguments":{"a":1,"b":2},"arguments_text":"{\"a\": 1, \"b\": 2}"}');
INSERT INTO "events" VALUES('ce2d4f3242de',8,0,'tool_call.completed',2.06263777999993180856e-01,'{"tool_call_id":"call_ce2d4f3242de_1","status":"completed","content":"3","duration_s":0.1781067140000232,"result":3}');
INSERT INTO "events" VALUES('ce2d4f3242de',9,0,'message.added',2.06386700000621203798e-01,'{"message":{"id":"4cd380e0b9f9328da261aa5964fbb9c80cb076c801106fee158e6a07a28e1166","role":"tool","parts":[{"kind":"tool_result","name":"add","content_text":"3","data":3,"id":"call_ce2d4f3242de_1"}]}}');
INSERT INTO "events" VALUES('ce2d4f3242de',10,0,'model_call.started',2.06464306000270880758e-01,'{"call_id":"ce2d4f3242de.2","round":2,"model":"scripted/model","provider":"scripted","endpoint":null,"simulated":true,"request_key":"c6388a7c8c7cdb85422acd2fd45adec924f8b8c3e8f101e677580e9c68a78d1a","message_ids":["29cf1377644b46a67d4f3421c26b96c5667d28c8486de5225abb9fbcad4f8d59","e6fb5d1a68b7c1355a159631cf4377d823778d03e5a8d35619dd0d1af5330732","773861bb7595d22ab6a54934df41781631a53b2391418f967ca057cfe1db41f9","4cd380e0b9f9328da261aa5964fbb9c80cb076c801106fee158e6a07a28e1166"],"tools":["add"],"params":{},"streaming":false}');
INSERT INTO "events" VALUES('ce2d4f3242de',11,0,'attempt.completed',2.0661185500011924887e-01,'{"call_id":"ce2d4f3242de.2","attempt":1,"model":"scripted/model","started_s":4.306399932829663e-05,"duration_s":0.00011208600062673213}');
INSERT INTO "events" VALUES('ce2d4f3242de',12,0,'model_call.completed',2.06665534000421757809e-01,'{"call_id":"ce2d4f3242de.2","text":"three \ud83d\ude00","stop_reason":"stop","finish_reason":null,"usage":{"input_tokens":76,"output_tokens":3,"reasoning_tokens":null,"cached_tokens":null,"estimated":false,"cost_usd":0.0,"cost_complete":true,"calls":1},"attempts":1,"duration_s":0.00020784800017281668,"first_token_s":0.00010130999999091728,"response_id":null,"response_model":null}');
INSERT INTO "events" VALUES('ce2d4f3242de',13,0,'message.added',2.06690461000107461586e-01,'{"message":{"id":"c0085d978179e7efc6c92d65cf8aaaf83fcae508a67b9c450bfb92233f039e3d","role":"assistant","parts":[{"kind":"text","text":"three \ud83d\ude00"}]},"stop_reason":"stop"}');
INSERT INTO "events" VALUES('ce2d4f3242de',14,0,'conversation.committed',2.06717511000533704645e-01,'{"length":4}');
INSERT INTO "events" VALUES('ce2d4f3242de',15,0,'run.completed',2.06730810999943059869e-01,'{"stop_reason":"stop"}');
INSERT INTO "events" VALUES('5bf88c0e4b62',0,0,'run.started',3.59724000009009614586e-03,'{"name":"support","input":"I was charged twice","graph":[{"task":"draft","kind":"robot","robot":"writer","depends_on":[],"optional":false,"route":false,"when":false,"fallback":null,"on_failure":"block","fingerprint":{"definition":"4cfa1e96103ac057","prompt":"2dac76d521b05be9","model":"914c35322eaa58b4","settings":"e10808d43975dc40","tools":"12ae32cb1ec02d01"}},{"task":"try","kind":"robot","robot":"trier","depends_on":["draft"],"optional":false,"route":false,"when":false,"fallback":null,"on_failure":"block","fingerprint":{"definition":"23a1d2fc2428ce63","prompt":"2dac76d521b05be9","model":"914c35322eaa58b4","settings":"e10808d43975dc40","tools":"4c2a8bbad10baaab"}},{"task":"bad","kind":"function","robot":null,"depends_on":[],"optional":false,"route":false,"when":false,"fallback":null,"on_failure":"block","fingerprint":{"definition":"01b67f7bd01347f4","prompt":"74234e98afe7498f","source":"0eff0322fdde1247"}},{"task":"after","kind":"robot","robot":"last","depends_on":["bad"],"optional":false,"route":false,"when":false,"fallback":null,"on_failure":"block","fingerprint":{"definition":"963e417d0d3f4686","prompt":"2dac76d521b05be9","model":"914c35322eaa58b4","settings":"e10808d43975dc40","tools":"12ae32cb1ec02d01"}}],"schema_version":1,"started_at":"2026-11-30T21:49:39.982992+00:00"}');
INSERT INTO "events" VALUES('5bf88c0e4b62',1,1,'task.started',3.89602399991417769342e-03,'{"task":"draft","kind":"robot","waited_s":0.00021439800002553966,"child_run_id":"8aae93fcfce6","robot":"writer"}');
INSERT INTO "events" VALUES('5bf88c0e4b62',2,2,'run.started',0.00393257799987623,'{"name":"writer","model":"scripted/model","provider":"scripted","simulated":true,"input":"I was charged twice","config":{"log":{"value":null,"origin":"options"},"model":{"value":"scripted/model","origin":"robot"}},"tools":[],"prompt_hash":null}');
INSERT INTO "events" VALUES('5bf88c0e4b62',3,2,'message.added',3.96147099945665104314e-03,'{"message":{"id":"85a187b1e95eccf366f7e1d49d6636b47340847165af169b126fdd28a59fc67e","role":"user","parts":[{"kind":"text","text":"I was charged twice"}]}}');
INSERT INTO "events" VALUES('5bf88c0e4b62',4,2,'model_call.started',4.00159099990560207515e-03,'{"call_id":"8aae93fcfce6.1","round":1,"model":"scripted/model","provider":"scripted","endpoint":null,"simulated":true,"request_key":"06fa31e3089636c927eea542bcaa67c4f491d5fb3b6d753b5f1398dfc621e735","message_ids":["85a187b1e95eccf366f7e1d49d6636b47340847165af169b126fdd28a59fc67e"],"tools":[],"params":{},"streaming":false}');
INSERT INTO "events" VALUES('5bf88c0e4b62',5,2,'attempt.completed',4.13238500004808884114e-03,'{"call_id":"8aae93fcfce6.1","attempt":1,"model":"scripted/model","started_s":3.160699998261407e-05,"duration_s":0.00010297300013917265}');
INSERT INTO "events" VALUES('5bf88c0e4b62',6,2,'model_call.completed',4.17865399958827765658e-03,'{"call_id":"8aae93fcfce6.1","text":"a draft","stop_reason":"stop","finish_reason":null,"usage":{"input_tokens":9,"output_tokens":2,"reasoning_tokens":null,"cached_tokens":null,"estimated":false,"cost_usd":0.0,"cost_complete":true,"calls":1},"attempts":1,"duration_s":0.0001800680001906585,"first_token_s":9.699400015961146e-05,"response_id":null,"response_model":null}');
INSERT INTO "events" VALUES('5bf88c0e4b62',7,2,'message.added',4.19579899971722625195e-03,'{"message":{"id":"ca049ac88a3131879bb0a7cc56770e9dcdf3104e3525bcf239859bcbc72b0295","role":"assistant","parts":[{"kind":"text","text":"a draft"}]},"stop_reason":"stop"}');
INSERT INTO "events" VALUES('5bf88c0e4b62',8,2,'run.completed',4.21243399978266097605e-03,'{"stop_reason":"stop"}');
INSERT INTO "events" VALUES('5bf88c0e4b62',9,1,'task.completed',4.47738699949695728719e-03,'{"task":"draft","text":"a draft"}');
INSERT INTO "events" VALUES('5bf88c0e4b62',10,10,'task.started',4.51566399988223565742e-03,'{"task":"bad","kind":"function","waited_s":0.0008361310001419042}');
INSERT INTO "events" VALUES('5bf88c0e4b62',11,11,'task.started',4.76405300014448584988e-03,'{"task":"try","kind":"robot","waited_s":0.0001431319997209357,"child_run_id":"8fe70dcb775a","robot":"trier"}');
INSERT INTO "events" VALUES('5bf88c0e4b62',12,12,'run.started',4.79004099997837329283e-03,'{"name":"trier","model":"scripted/model","provider":"scripted","simulated":true,"input":"a draft","config":{"log":{"value":null,"origin":"options"},"model":{"value":"scripted/model","origin":"robot"},"tools":{"value":["fail"],"origin":"robot"}},"tools":["fail"],"prompt_hash":null}');
INSERT INTO "events" VALUES('5bf88c0e4b62',13,12,'message.added',1.59767499999361461959e-02,'{"message":{"id":"1091310cf6b4779b976ccd6c2a69d75dbab86a5e21ca2b892ed2c689b883b841","role":"user","parts":[{"kind":"text","text":"a draft"}]}}');
INSERT INTO "events" VALUES('5bf88c0e4b62',14,12,'model_call.started',1.60825570001179585233e-02,'{"call_id":"8fe70dcb775a.1","round":1,"model":"scripted/model","provider":"scripted","endpoint":null,"simulated":true,"request_key":"0b8c2572af85fc8fa06b6964fa576bfd197906e88f6d6ca7c24e85df33ecf386","message_ids":["1091310cf6b4779b976ccd6c2a69d75dbab86a5e21ca2b892ed2c689b883b841"],"tools":["fail"],"params":{},"streaming":false,"tool_specs":[{"name":"fail","description":"Fail at whatever it is.","parameters":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}}]}');
INSERT INTO "events" VALUES('5bf88c0e4b62',15,12,'attempt.completed',1.62917879997621639631e-02,'{"call_id":"8fe70dcb775a.1","attempt":1,"model":"scripted/model","started_s":6.094000036682701e-05,"duration_s":0.00016153999968082644}');
INSERT INTO "events" VALUES('5bf88c0e4b62',16,12,'model_call.completed',1.63630039996860432438e-02,'{"call_id":"8fe70dcb775a.1","text":"","stop_reason":"tool","finish_reason":null,"usage":{"input_tokens":46,"output_tokens":5,"reasoning_tokens":null,"cached_tokens":null,"estimated":false,"cost_usd":0.0,"cost_complete":true,"calls":1},"attempts":1,"duration_s":0.00029342500056372955,"first_token_s":0.00015621200054738438,"response_id":null,"response_model":null}');
INSERT INTO "events" VALUES('5bf88c0e4b62',17,12,'message.added',1.64039439996486180461e-02,'{"message":{"id":"3a6b16a55bc8033794a29dfb2d33b43ec030ddfd3f8f2f21fd86e47669e0b595","role":"assistant","parts":[{"kind":"tool_call","name":"fail","arguments":"{\"text\": \"x\"}","id":"call_8fe70dcb775a_1"}]},"stop_reason":"tool"}');
INSERT INTO "events" VALUES('5bf88c0e4b62',18,12,'tool_call.started',1.64688109998678555712e-02,'{"tool_call_id":"call_8fe70dcb775a_1","call_id":"8fe70dcb775a.1","round":1,"tool":"fail","source":"function in make_golden.py","arguments":{"text":"x"},"arguments_text":"{\"text\": \"x\"}"}');
INSERT INTO "events" VALUES('5bf88c0e4b62',19,10,'task.failed',1.78040129994769813492e-02,'{"task":"bad","error":{"type":"ZeroDivisionError","message":"division by zero"},"traceback":"Traceback (most recent call last): \u2026"}');
INSERT INTO "events" VALUES('5bf88c0e4b62',20,20,'task.settled',1.79129150001244852319e-02,'{"task":"after","status":"blocked","reason":"needs bad"}');
INSERT INTO "events" VALUES('5bf88c0e4b62',21,12,'tool_call.completed',2.00817449995156493969e-02,'{"tool_call_id":"call_8fe70dcb775a_1","status":"failed","content":"Error (fail): no good: x","duration_s":0.003595827999561152,"error":{"type":"ValueError","message":"no good: x"},"retryable":false,"traceback":"Traceback (most recent call last): \u2026"}');
INSERT INTO "events" VALUES('5bf88c0e4b62',22,12,'message.added',2.01734809998015407472e-02,'{"message":{"id":"48943d88464891d1a9dd8fe4b891ac12085cddc262478c1ef5d384a9fb1bbf81","role":"tool","parts":[{"kind":"tool_result","name":"fail","content_text":"Error (fail): no good: x","is_error":true,"id":"call_8fe70dcb775a_1"}]}}');
INSERT INTO "events" VALUES('5bf88c0e4b62',23,12,'model_call.started',2.02039059995513525791e-02,'{"call_id":"8fe70dcb775a.2","round":2,"model":"scripted/model","provider":"scripted","endpoint":null,"simulated":true,"request_key":"63771bf6b59c58ab0972cb983db5ecbb73210615db6e4a59187c9097eaee5472","message_ids":["1091310cf6b4779b976ccd6c2a69d75dbab86a5e21ca2b892ed2c689b883b841","3a6b16a55bc8033794a29dfb2d33b43ec030ddfd3f8f2f21fd86e47669e0b595","48943d88464891d1a9dd8fe4b891ac12085cddc262478c1ef5d384a9fb1bbf81"],"tools":["fail"],"params":{},"streaming":false}');
INSERT INTO "events" VALUES('5bf88c0e4b62',24,12,'attempt.completed',2.03036940001766197383e-02,'{"call_id":"8fe70dcb775a.2","attempt":1,"model":"scripted/model","started_s":1.9838999833154958e-05,"duration_s":8.526700003130827e-05}');
INSERT INTO "events" VALUES('5bf88c0e4b62',25,12,'model_call.completed',0.0203405689999272,'{"call_id":"8fe70dcb775a.2","text":"it failed","stop_reason":"stop","finish_reason":null,"usage":{"input_tokens":65,"output_tokens":3,"reasoning_tokens":null,"cached_tokens":null,"estimated":false,"cost_usd":0.0,"cost_complete":true,"calls":1},"attempts":1,"duration_s":0.00014110899974184576,"first_token_s":6.966300043131923e-05,"response_id":null,"response_model":null}');
INSERT INTO "events" VALUES('5bf88c0e4b62',26,12,'message.added',2.03591270001197699457e-02,'{"message":{"id":"e94e0a59f5fc2cae1a42f48f0a25344bbaaa42b8d4a09c98c6494a328651bfae","role":"assistant","parts":[{"kind":"text","text":"it failed"}]},"stop_reason":"stop"}');
INSERT INTO "events" VALUES('5bf88c0e4b62',27,12,'run.completed',2.03832219995092600584e-02,'{"stop_reason":"stop"}');
INSERT INTO "events" VALUES('5bf88c0e4b62',28,11,'task.completed',2.04534469994541723281e-02,'{"task":"try","text":"it failed"}');
INSERT INTO "events" VALUES('5bf88c0e4b62',29,0,'run.failed',2.05817469995963620021e-02,'{"error":{"type":"NetworkFailed","message":"network ''support'' failed: bad: division by zero","hint":"The other tasks'' results are there: result[''task''].","retryable":false}}');
INSERT INTO "events" VALUES('strange',0,0,'run.started',0.0,'{"schema_version":1,"started_at":"2026-03-01T12:00:00+00:00","name":"nul\u0000 \ud800 \\ %_*","model":"test/m","input":"Hello","tags":["\u00e9t\u00e9","a\\b"]}');
INSERT INTO "events" VALUES('strange',1,0,'model_call.started',0.125,'{"call_id":"strange.1","round":1,"model":"test/m","simulated":false}');
INSERT INTO "events" VALUES('strange',2,0,'model_call.completed',0.25,'{"call_id":"strange.1","text":"ok","stop_reason":"stop","usage":{"input_tokens":10,"output_tokens":5,"cost_usd":0.25,"cost_complete":true,"calls":1},"attempts":1}');
INSERT INTO "events" VALUES('strange',3,3,'memory.set',0.5,' {"key":"a","value":{"split":"\uD83D\uDE00","whole":"\ud83d\ude00","nul":"\u0000","nan":NaN,"inf":[Infinity,-Infinity,-0.0],"big":100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000,"wide":36893488147419103232,"deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]],"rtl":"\u202e","back":"\\ud83d\\\\"}}');
INSERT INTO "events" VALUES('begun',0,0,'run.started',0.0,'{"schema_version":1,"started_at":"2026-03-01T13:00:00+00:00","name":"slow","model":"test/m","input":"Hello"}');
INSERT INTO "events" VALUES('begun',1,0,'model_call.started',0.125,'{"call_id":"begun.1","round":1,"model":"test/m","simulated":false}');
INSERT INTO "events" VALUES('begun',2,0,'model_call.completed',0.25,'{"call_id":"begun.1","text":"ok","stop_reason":"stop","usage":{"input_tokens":10,"output_tokens":5,"cost_usd":0.25,"cost_complete":true,"calls":1},"attempts":1}');
INSERT INTO "events" VALUES('session-5801d980bb77',0,0,'run.started',5.58029996682307682931e-05,'{"schema_version":1,"started_at":"2026-11-30T21:49:38.545287+00:00","name":"session"}');
INSERT INTO "events" VALUES('session-5801d980bb77',1,0,'memory.set',6.92429994160193e-05,'{"key":"draft","value":"Dear all","version":1,"created":true,"writer":"session","network":null}');
INSERT INTO "events" VALUES('d622cd01f2b3',0,0,'run.started',5.499975999555317685e-03,'{"name":"tried","input":"2 prompts \u00d7 1 model \u00d7 2 inputs: 4 cells","simulated":true,"schema_version":1,"started_at":"2026-11-30T21:49:39.718261+00:00"}');
INSERT INTO "events" VALUES('d622cd01f2b3',1,0,'experiment.planned',5.65861099948961054906e-03,'{"axes":{"prompt":["Be brief.","Be rude."],"model":["scripted/model"],"input":["Hello","Hello (2)"],"repeat":[0]},"sizes":[2,1,2,1],"prompts":["Be brief.","Be rude."],"inputs":["Hello","Hello"],"rows":[{"input":"Hello"},{"input":"Hello"}],"cells":[{"key":"9ea725c4c8597379be3cbc74657d474650da0d7b7e71b43893075db27525a4cd","at":[0,0,0,0]},{"key":"45d7040607fd6d5241e6d84c4b27b95334c16ef6e754ab7b7f17e1f91b136ac7","at":[1,0,0,0]},{"key":"714b8853ba87e2891c618802c5248e96666e33f9fc41b980b5fd5c1e083dfa66","at":[0,0,1,0]},{"key":"0b74635b9333781f221ce4c1f011a5c33e8f2ad53d57bb593d8472738d3bd9d0","at":[1,0,1,0]}],"estimate":{"cells":4,"calls":4,"cached":0,"cost_usd":0.0,"basis":"simulated","simulated":4,"judging":0,"unknown":[]},"evaluators":{"contains o":{"evaluator":"25b8a86ce57b1c7f"}}}');
INSERT INTO "events" VALUES('d622cd01f2b3',2,0,'cell.started',6.16568399982497794553e-03,'{"index":0,"key":"9ea725c4c8597379be3cbc74657d474650da0d7b7e71b43893075db27525a4cd","child_run_id":"449aab9b8858"}');
INSERT INTO "events" VALUES('d622cd01f2b3',3,3,'run.started',6.21998499991605058312e-03,'{"name":"prompt 1","model":"scripted/model","provider":"scripted","simulated":true,"input":"Hello","config":{"log":{"value":null,"origin":"options"},"model":{"value":"scripted/model","origin":"robot"}},"tools":[],"prompt_hash":"213c22ed7234eb11116e1e88f314c73cb3a019b5c87fe224b6ce5665bd9ec50e"}');
INSERT INTO "events" VALUES('d622cd01f2b3',4,3,'message.added',0.00625458600006823,'{"message":{"id":"29cf1377644b46a67d4f3421c26b96c5667d28c8486de5225abb9fbcad4f8d59","role":"system","parts":[{"kind":"text","text":"Be brief."}]}}');
INSERT INTO "events" VALUES('d622cd01f2b3',5,3,'message.added',6.26642399947741068899e-03,'{"message":{"id":"7355c90b5fdee242b2c413d49978ebf616a1b038603f1b11757bb9e409e68be2","role":"user","parts":[{"kind":"text","text":"Hello"}]}}');
INSERT INTO "events" VALUES('d622cd01f2b3',6,3,'model_call.started',6.31168099971546325832e-03,'{"call_id":"449aab9b8858.1","round":1,"model":"scripted/model","provider":"scripted","endpoint":null,"simulated":true,"request_key":"1291fa72c99d608d242f33ed61a00cec56496782d22a3ccaf62d6aabd260d57b","message_ids":["29cf1377644b46a67d4f3421c26b96c5667d28c8486de5225abb9fbcad4f8d59","7355c90b5fdee242b2c413d49978ebf616a1b038603f1b11757bb9e409e68be2"],"tools":[],"params":{},"streaming":false}');
INSERT INTO "events" VALUES('d622cd01f2b3',7,3,'attempt.completed',6.45574499958456726744e-03,'{"call_id":"449aab9b8858.1","attempt":1,"model":"scripted/model","started_s":3.6002999877382535e-05,"duration_s":0.00011014400024578208}');
INSERT INTO "events" VALUES('d622cd01f2b3',8,3,'model_call.completed',6.56928299940773285925e-03,'{"call_id":"449aab9b8858.1","text":"short","stop_reason":"stop","finish_reason":null,"usage":{"input_tokens":13,"output_tokens":2,"reasoning_tokens":null,"cached_tokens":null,"estimated":false,"cost_usd":0.0,"cost_complete":true,"calls":1},"attempts":1,"duration_s":0.0002598159999251948,"first_token_s":0.00010479600041435333,"response_id":null,"response_model":null}');
INSERT INTO "events" VALUES('d622cd01f2b3',9,3,'message.added',6.6079110001737717539e-03,'{"message":{"id":"9ce07c3f0b620ad52aacfa85465796676776af5a5c3b485472c2ab202a452cbe","role":"assistant","parts":[{"kind":"text","text":"short"}]},"stop_reason":"stop"}');
INSERT INTO "events" VALUES('d622cd01f2b3',10,3,'run.completed',6.63327799975377274677e-03,'{"stop_reason":"stop"}');
INSERT INTO "events" VALUES('d622cd01f2b3',11,0,'cell.completed',6.68402399969636462628e-03,'{"index":0,"key":"9ea725c4c8597379be3cbc74657d474650da0d7b7e71b43893075db27525a4cd","child_run_id":"449aab9b8858","status":"completed","text":"short","duration_s":0.00041329299983772216,"input_tokens":13,"output_tokens":2,"cost_usd":0.0,"cost_complete":true,"simulated":true}');
INSERT INTO "events" VALUES('d622cd01f2b3',12,0,'cell.scored',1.32218299995656707324e-02,'{"index":0,"key":"9ea725c4c8597379be3cbc74657d474650da0d7b7e71b43893075db27525a4cd","scores":[{"name":"contains o","passed":true}],"evaluators":{"contains o":{"evaluator":"25b8a86ce57b1c7f"}}}');
INSERT INTO "events" VALUES('d622cd01f2b3',13,0,'cell.started',1.3407445999291667249e-02,'{"index":1,"key":"45d7040607fd6d5241e6d84c4b27b95334c16ef6e754ab7b7f17e1f91b136ac7","child_run_id":"84da1a0db121"}');
INSERT INTO "events" VALUES('d622cd01f2b3',14,14,'run.started',1.34866739999779383651e-02,'{"name":"prompt 2","model":"scripted/model","provider":"scripted","simulated":true,"input":"Hello","config":{"log":{"value":null,"origin":"options"},"model":{"value":"scripted/model","origin":"robot"}},"tools":[],"prompt_hash":"e1620b33a167bfa84d7d5add7cfab2d43ac2c59e1211788ad4738899e11b54ad"}');
INSERT INTO "events" VALUES('d622cd01f2b3',15,14,'message.added',1.35208840001723729074e-02,'{"message":{"id":"3a66fe53799f5ad66347f8ec873e66b958d93460c6735b2548beb2592fb57cef","role":"system","parts":[{"kind":"text","text":"Be rude."}]}}');
INSERT INTO "events" VALUES('d622cd01f2b3',16,14,'message.added',1.3531910999518004246e-02,'{"message":{"id":"7355c90b5fdee242b2c413d49978ebf616a1b038603f1b11757bb9e409e68be2","role":"user","parts":[{"kind":"text","text":"Hello"}]}}');
INSERT INTO "events" VALUES('d622cd01f2b3',17,14,'model_call.started',1.357404299960762728e-02,'{"call_id":"84da1a0db121.1","round":1,"model":"scripted/model","provider":"scripted","endpoint":null,"simulated":true,"request_key":"90dd8c4a3bdd8d96ee61f049dc32d9d8314c70d13f183ba63fa792f59aae2519","message_ids":["3a66fe53799f5ad66347f8ec873e66b958d93460c6735b2548beb2592fb57cef","7355c90b5fdee242b2c413d49978ebf616a1b038603f1b11757bb9e409e68be2"],"tools":[],"params":{},"streaming":false}');
INSERT INTO "events" VALUES('d622cd01f2b3',18,14,'attempt.completed',1.37366649996693013235e-02,'{"call_id":"84da1a0db121.1","attempt":1,"model":"scripted/model","started_s":3.649399968708167e-05,"duration_s":0.00012998300007893704}');
INSERT INTO "events" VALUES('d622cd01f2b3',19,14,'model_call.completed',1.37861479997809510678e-02,'{"call_id":"84da1a0db121.1","text":"short","stop_reason":"stop","finish_reason":null,"usage":{"input_tokens":12,"output_tokens":2,"reasoning_tokens":null,"cached_tokens":null,"estimated":false,"cost_usd":0.0,"cost_complete":true,"calls":1},"attempts":1,"duration_s":0.00021526900036406005,"first_token_s":0.00011897599961230299,"response_id":null,"response_model":null}');
INSERT INTO "events" VALUES('d622cd01f2b3',20,14,'message.added',1.38070389994027209468e-02,'{"message":{"id":"9ce07c3f0b620ad52aacfa85465796676776af5a5c3b485472c2ab202a452cbe","role":"assistant","parts":[{"kind":"text","text":"short"}]},"stop_reason":"stop"}');
INSERT INTO "events" VALUES('d622cd01f2b3',21,14,'run.completed',1.38288519992784131318e-02,'{"stop_reason":"stop"}');
INSERT INTO "events" VALUES('d622cd01f2b3',22,0,'cell.completed',1.38698219998332206159e-02,'{"index":1,"key":"45d7040607fd6d5241e6d84c4b27b95334c16ef6e754ab7b7f17e1f91b136ac7","child_run_id":"84da1a0db121","status":"completed","text":"short","duration_s":0.00034217799930047477,"input_tokens":12,"output_tokens":2,"cost_usd":0.0,"cost_complete":true,"simulated":true}');
INSERT INTO "events" VALUES('d622cd01f2b3',23,0,'cell.scored',1.40626889997292892076e-02,'{"index":1,"key":"45d7040607fd6d5241e6d84c4b27b95334c16ef6e754ab7b7f17e1f91b136ac7","scores":[{"name":"contains o","passed":true}],"evaluators":{"contains o":{"evaluator":"25b8a86ce57b1c7f"}}}');
INSERT INTO "events" VALUES('d622cd01f2b3',24,0,'cell.started',1.41444099999716854654e-02,'{"index":2,"key":"714b8853ba87e2891c618802c5248e96666e33f9fc41b980b5fd5c1e083dfa66","child_run_id":"aac7d9074658"}');
INSERT INTO "events" VALUES('d622cd01f2b3',25,25,'run.started',0.0141650909999953,'{"name":"prompt 1","model":"scripted/model","provider":"scripted","simulated":true,"input":"Hello","config":{"log":{"value":null,"origin":"options"},"model":{"value":"scripted/model","origin":"robot"}},"tools":[],"prompt_hash":"213c22ed7234eb11116e1e88f314c73cb3a019b5c87fe224b6ce5665bd9ec50e"}');
INSERT INTO "events" VALUES('d622cd01f2b3',26,25,'message.added',1.41790319994470337405e-02,'{"message":{"id":"29cf1377644b46a67d4f3421c26b96c5667d28c8486de5225abb9fbcad4f8d59","role":"system","parts":[{"kind":"text","text":"Be brief."}]}}');
INSERT INTO "events" VALUES('d622cd01f2b3',27,25,'message.added',1.41915699996388866566e-02,'{"message":{"id":"7355c90b5fdee242b2c413d49978ebf616a1b038603f1b11757bb9e409e68be2","role":"user","parts":[{"kind":"text","text":"Hello"}]}}');
INSERT INTO "events" VALUES('d622cd01f2b3',28,25,'model_call.started',1.42209839996212394908e-02,'{"call_id":"aac7d9074658.1","round":1,"model":"scripted/model","provider":"scripted","endpoint":null,"simulated":true,"request_key":"1291fa72c99d608d242f33ed61a00cec56496782d22a3ccaf62d6aabd260d57b","message_ids":["29cf1377644b46a67d4f3421c26b96c5667d28c8486de5225abb9fbcad4f8d59","7355c90b5fdee242b2c413d49978ebf616a1b038603f1b11757bb9e409e68be2"],"tools":[],"params":{},"streaming":false}');
INSERT INTO "events" VALUES('d622cd01f2b3',29,25,'attempt.completed',1.4306350999504502397e-02,'{"call_id":"aac7d9074658.1","attempt":1,"model":"scripted/model","started_s":2.0290000065870117e-05,"duration_s":6.728000062139472e-05}');
INSERT INTO "events" VALUES('d622cd01f2b3',30,25,'model_call.completed',1.43369259994869935326e-02,'{"call_id":"aac7d9074658.1","text":"short","stop_reason":"stop","finish_reason":null,"usage":{"input_tokens":13,"output_tokens":2,"reasoning_tokens":null,"cached_tokens":null,"estimated":false,"cost_usd":0.0,"cost_complete":true,"calls":1},"attempts":1,"duration_s":0.00011752499995054677,"first_token_s":6.0140000641695224e-05,"response_id":null,"response_model":null}');
INSERT INTO "events" VALUES('d622cd01f2b3',31,25,'message.added',1.43508269993617432191e-02,'{"message":{"id":"9ce07c3f0b620ad52aacfa85465796676776af5a5c3b485472c2ab202a452cbe","role":"assistant","parts":[{"kind":"text","text":"short"}]},"stop_reason":"stop"}');
INSERT INTO "events" VALUES('d622cd01f2b3',32,25,'run.completed',1.43644169993422110565e-02,'{"stop_reason":"stop"}');
INSERT INTO "events" VALUES('d622cd01f2b3',33,0,'cell.completed',1.43903549997048685327e-02,'{"index":2,"key":"714b8853ba87e2891c618802c5248e96666e33f9fc41b980b5fd5c1e083dfa66","child_run_id":"aac7d9074658","status":"completed","text":"short","duration_s":0.00019932599934691098,"input_tokens":13,"output_tokens":2,"cost_usd":0.0,"cost_complete":true,"simulated":true}');
INSERT INTO "events" VALUES('d622cd01f2b3',34,0,'cell.scored',1.4507548999972641468e-02,'{"index":2,"key":"714b8853ba87e2891c618802c5248e96666e33f9fc41b980b5fd5c1e083dfa66","scores":[{"name":"contains o","passed":true}],"evaluators":{"contains o":{"evaluator":"25b8a86ce57b1c7f"}}}');
INSERT INTO "events" VALUES('d622cd01f2b3',35,0,'cell.started',4.39836819996344274841e-02,'{"index":3,"key":"0b74635b9333781f221ce4c1f011a5c33e8f2ad53d57bb593d8472738d3bd9d0","child_run_id":"9bfd11053a07"}');
INSERT INTO "events" VALUES('d622cd01f2b3',36,36,'run.started',4.41457930000979104079e-02,'{"name":"prompt 2","model":"scripted/model","provider":"scripted","simulated":true,"input":"Hello","config":{"log":{"value":null,"origin":"options"},"model":{"value":"scripted/model","origin":"robot"}},"tools":[],"prompt_hash":"e1620b33a167bfa84d7d5add7cfab2d43ac2c59e1211788ad4738899e11b54ad"}');
INSERT INTO "events" VALUES('d622cd01f2b3',37,36,'message.added',4.41922119998707785271e-02,'{"message":{"id":"3a66fe53799f5ad66347f8ec873e66b958d93460c6735b2548beb2592fb57cef","role":"system","parts":[{"kind":"text","text":"Be rude."}]}}');
INSERT INTO "events" VALUES('d622cd01f2b3',38,36,'message.added',4.42229669997686869464e-02,'{"message":{"id":"7355c90b5fdee242b2c413d49978ebf616a1b038603f1b11757bb9e409e68be2","role":"user","parts":[{"kind":"text","text":"Hello"}]}}');
INSERT INTO "events" VALUES('d622cd01f2b3',39,36,'model_call.started',4.43043279992707539349e-02,'{"call_id":"9bfd11053a07.1","round":1,"model":"scripted/model","provider":"scripted","endpoint":null,"simulated":true,"request_key":"90dd8c4a3bdd8d96ee61f049dc32d9d8314c70d13f183ba63fa792f59aae2519","message_ids":["3a66fe53799f5ad66347f8ec873e66b958d93460c6735b2548beb2592fb57cef","7355c90b5fdee242b2c413d49978ebf616a1b038603f1b11757bb9e409e68be2"],"tools":[],"params":{},"streaming":false}');
INSERT INTO "events" VALUES('d622cd01f2b3',40,36,'attempt.completed',4.45260569995298283174e-02,'{"call_id":"9bfd11053a07.1","attempt":1,"model":"scripted/model","started_s":6.964300064282725e-05,"duration_s":0.00017119399944931502}');
INSERT INTO "events" VALUES('d622cd01f2b3',41,36,'model_call.completed',4.62318999998387880623e-02,'{"call_id":"9bfd11053a07.1","text":"short","stop_reason":"stop","finish_reason":null,"usage":{"input_tokens":12,"output_tokens":2,"reasoning_tokens":null,"cached_tokens":null,"estimated":false,"cost_usd":0.0,"cost_complete":true,"calls":1},"attempts":1,"duration_s":0.0019375060001038946,"first_token_s":0.00017917600052896887,"response_id":null,"response_model":null}');
INSERT INTO "events" VALUES('d622cd01f2b3',42,36,'message.added',4.63097960000595776364e-02,'{"message":{"id":"9ce07c3f0b620ad52aacfa85465796676776af5a5c3b485472c2ab202a452cbe","role":"assistant","parts":[{"kind":"text","text":"short"}]},"stop_reason":"stop"}');
INSERT INTO "events" VALUES('d622cd01f2b3',43,36,'run.completed',4.6357997000086470507e-02,'{"stop_reason":"stop"}');
INSERT INTO "events" VALUES('d622cd01f2b3',44,0,'cell.completed',4.64551819995904224924e-02,'{"index":3,"key":"0b74635b9333781f221ce4c1f011a5c33e8f2ad53d57bb593d8472738d3bd9d0","child_run_id":"9bfd11053a07","status":"completed","text":"short","duration_s":0.00221220399998856,"input_tokens":12,"output_tokens":2,"cost_usd":0.0,"cost_complete":true,"simulated":true}');
INSERT INTO "events" VALUES('d622cd01f2b3',45,0,'cell.scored',4.68554359995323466137e-02,'{"index":3,"key":"0b74635b9333781f221ce4c1f011a5c33e8f2ad53d57bb593d8472738d3bd9d0","scores":[{"name":"contains o","passed":true}],"evaluators":{"contains o":{"evaluator":"25b8a86ce57b1c7f"}}}');
INSERT INTO "events" VALUES('d622cd01f2b3',46,0,'run.completed',4.70356929999979911372e-02,'{"stop_reason":null}');
CREATE TABLE meta (
	"key" TEXT NOT NULL, 
	value TEXT, 
	PRIMARY KEY ("key")
);
INSERT INTO "meta" VALUES('schema_version','2');
INSERT INTO "meta" VALUES('made_by','0.1.0');
INSERT INTO "meta" VALUES('made_at','1796075380292206');
CREATE TABLE partials (
	root_id TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	scope_no BIGINT, 
	call_id TEXT NOT NULL, 
	attempt INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	text TEXT NOT NULL, 
	seen_at BIGINT, 
	PRIMARY KEY (root_id, call_id, attempt, kind)
);
INSERT INTO "partials" VALUES('begun','begun',0,'begun.1',1,'text','"Once upon \ud83d"',1796075380435820);
CREATE TABLE ratings (
	run_id TEXT NOT NULL, 
	rating INTEGER, 
	note TEXT, 
	"by" TEXT NOT NULL, 
	at BIGINT NOT NULL, 
	PRIMARY KEY (run_id)
);
INSERT INTO "ratings" VALUES('begun',4,'promising \ud83d','person',1796075380473326);
INSERT INTO "ratings" VALUES('strange',NULL,'odd','person',1796075380473326);
CREATE TABLE roots (
	root_id TEXT NOT NULL, 
	writer_id TEXT, 
	kind TEXT, 
	name TEXT, 
	started_at BIGINT NOT NULL, 
	schema_version BIGINT, 
	status TEXT, 
	last_seq BIGINT NOT NULL, 
	ended_at BIGINT, 
	PRIMARY KEY (root_id)
);
INSERT INTO "roots" VALUES('ce2d4f3242de','golden','robot','adder',1796075379768073,1,'completed',15,1796075379974804);
INSERT INTO "roots" VALUES('5bf88c0e4b62','golden','network','support',1796075379979395,1,'failed',29,1796075379999977);
INSERT INTO "roots" VALUES('strange','golden','robot','nul\u0000 \ud800 \\ %_*',1772366400000000,1,'running',3,NULL);
INSERT INTO "roots" VALUES('begun','golden','robot','slow',1772370000000000,1,'running',2,NULL);
INSERT INTO "roots" VALUES('session-5801d980bb77','golden','session','session',1796075378545231,1,'session',1,NULL);
INSERT INTO "roots" VALUES('d622cd01f2b3','golden','experiment','tried',1796075379712761,1,'completed',46,1796075379759797);
CREATE TABLE runs (
	run_id TEXT NOT NULL, 
	root_id TEXT NOT NULL, 
	parent_id TEXT, 
	kind TEXT, 
	name TEXT, 
	network TEXT, 
	task TEXT, 
	robot TEXT, 
	model TEXT, 
	status TEXT, 
	stop_reason TEXT, 
	session_id TEXT, 
	prompt_hash TEXT, 
	resumed_from TEXT, 
	error_type TEXT, 
	input TEXT, 
	started_at BIGINT, 
	ended_at BIGINT, 
	model_calls BIGINT, 
	tool_calls BIGINT, 
	input_tokens BIGINT, 
	output_tokens BIGINT, 
	reasoning_tokens BIGINT, 
	cached_tokens BIGINT, 
	simulated BOOLEAN NOT NULL, 
	tokens_estimated BOOLEAN NOT NULL, 
	cost_usd DOUBLE, 
	cost_complete BOOLEAN NOT NULL, 
	number BIGINT NOT NULL, 
	root_started_at BIGINT NOT NULL, 
	PRIMARY KEY (run_id)
);
INSERT INTO "runs" VALUES('ce2d4f3242de','ce2d4f3242de',NULL,'robot','adder',NULL,NULL,'adder','scripted/model','completed','stop',NULL,'213c22ed7234eb11116e1e88f314c73cb3a019b5c87fe224b6ce5665bd9ec50e',NULL,NULL,'What is 1 + 2?',1796075379768811,1796075379974804,2,1,138,8,NULL,NULL,1,0,0.0,1,0,1796075379768073);
INSERT INTO "runs" VALUES('5bf88c0e4b62','5bf88c0e4b62',NULL,'network','support','support',NULL,NULL,NULL,'failed',NULL,NULL,NULL,NULL,'NetworkFailed','I was charged twice',1796075379982992,1796075379999977,0,0,NULL,NULL,NULL,NULL,1,0,NULL,1,0,1796075379979395);
INSERT INTO "runs" VALUES('8aae93fcfce6','5bf88c0e4b62','5bf88c0e4b62','robot','writer','support','draft','writer','scripted/model','completed','stop',NULL,NULL,NULL,NULL,'I was charged twice',1796075379983328,1796075379983607,1,0,9,2,NULL,NULL,1,0,0.0,1,2,1796075379979395);
INSERT INTO "runs" VALUES('8fe70dcb775a','5bf88c0e4b62','5bf88c0e4b62','robot','trier','support','try','trier','scripted/model','completed','stop',NULL,NULL,NULL,NULL,'a draft',1796075379984185,1796075379999778,2,1,111,8,NULL,NULL,1,0,0.0,1,12,1796075379979395);
INSERT INTO "runs" VALUES('strange','strange',NULL,'robot','nul\u0000 \ud800 \\ %_*',NULL,NULL,'nul\u0000 \ud800 \\ %_*','test/m','running','stop',NULL,NULL,NULL,NULL,'Hello',1772366400000000,NULL,1,0,10,5,NULL,NULL,0,0,0.25,1,0,1772366400000000);
INSERT INTO "runs" VALUES('begun','begun',NULL,'robot','slow',NULL,NULL,'slow','test/m','running','stop',NULL,NULL,NULL,NULL,'Hello',1772370000000000,NULL,1,0,10,5,NULL,NULL,0,0,0.25,1,0,1772370000000000);
INSERT INTO "runs" VALUES('session-5801d980bb77','session-5801d980bb77',NULL,'session','session',NULL,NULL,NULL,NULL,'running',NULL,NULL,NULL,NULL,NULL,NULL,1796075378545287,NULL,0,0,NULL,NULL,NULL,NULL,0,0,NULL,1,0,1796075378545231);
INSERT INTO "runs" VALUES('d622cd01f2b3','d622cd01f2b3',NULL,'experiment','tried',NULL,NULL,NULL,NULL,'completed',NULL,NULL,NULL,NULL,NULL,'2 prompts × 1 model × 2 inputs: 4 cells',1796075379718261,1796075379759797,0,0,NULL,NULL,NULL,NULL,1,0,NULL,1,0,1796075379712761);
INSERT INTO "runs" VALUES('449aab9b8858','d622cd01f2b3','d622cd01f2b3','robot','prompt 1',NULL,NULL,'prompt 1','scripted/model','completed','stop',NULL,'213c22ed7234eb11116e1e88f314c73cb3a019b5c87fe224b6ce5665bd9ec50e',NULL,NULL,'Hello',1796075379718981,1796075379719394,1,0,13,2,NULL,NULL,1,0,0.0,1,3,1796075379712761);
INSERT INTO "runs" VALUES('84da1a0db121','d622cd01f2b3','d622cd01f2b3','robot','prompt 2',NULL,NULL,'prompt 2','scripted/model','completed','stop',NULL,'e1620b33a167bfa84d7d5add7cfab2d43ac2c59e1211788ad4738899e11b54ad',NULL,NULL,'Hello',1796075379726248,1796075379726590,1,0,12,2,NULL,NULL,1,0,0.0,1,14,1796075379712761);
INSERT INTO "runs" VALUES('aac7d9074658','d622cd01f2b3','d622cd01f2b3','robot','prompt 1',NULL,NULL,'prompt 1','scripted/model','completed','stop',NULL,'213c22ed7234eb11116e1e88f314c73cb3a019b5c87fe224b6ce5665bd9ec50e',NULL,NULL,'Hello',1796075379726926,1796075379727125,1,0,13,2,NULL,NULL,1,0,0.0,1,25,1796075379712761);
INSERT INTO "runs" VALUES('9bfd11053a07','d622cd01f2b3','d622cd01f2b3','robot','prompt 2',NULL,NULL,'prompt 2','scripted/model','completed','stop',NULL,'e1620b33a167bfa84d7d5add7cfab2d43ac2c59e1211788ad4738899e11b54ad',NULL,NULL,'Hello',1796075379756907,1796075379759119,1,0,12,2,NULL,NULL,1,0,0.0,1,36,1796075379712761);
CREATE TABLE scopes (
	root_id TEXT NOT NULL, 
	scope_no BIGINT NOT NULL, 
	run_id TEXT NOT NULL, 
	parent_id TEXT, 
	depth BIGINT, 
	kind TEXT, 
	path TEXT, 
	robot TEXT, 
	PRIMARY KEY (root_id, scope_no)
);
INSERT INTO "scopes" VALUES('ce2d4f3242de',0,'ce2d4f3242de',NULL,0,'robot','["adder"]','adder');
INSERT INTO "scopes" VALUES('5bf88c0e4b62',0,'5bf88c0e4b62',NULL,0,'network','["support"]',NULL);
INSERT INTO "scopes" VALUES('5bf88c0e4b62',1,'5bf88c0e4b62',NULL,0,'task','["support","draft"]','writer');
INSERT INTO "scopes" VALUES('5bf88c0e4b62',2,'8aae93fcfce6','5bf88c0e4b62',1,'robot','["support","draft"]','writer');
INSERT INTO "scopes" VALUES('5bf88c0e4b62',10,'5bf88c0e4b62',NULL,0,'task','["support","bad"]',NULL);
INSERT INTO "scopes" VALUES('5bf88c0e4b62',11,'5bf88c0e4b62',NULL,0,'task','["support","try"]','trier');
INSERT INTO "scopes" VALUES('5bf88c0e4b62',12,'8fe70dcb775a','5bf88c0e4b62',1,'robot','["support","try"]','trier');
INSERT INTO "scopes" VALUES('5bf88c0e4b62',20,'5bf88c0e4b62',NULL,0,'task','["support","after"]','last');
INSERT INTO "scopes" VALUES('strange',0,'strange',NULL,0,'robot','["nul\u0000 \ud800 \\ %_*"]','nul\u0000 \ud800 \\ %_*');
INSERT INTO "scopes" VALUES('strange',3,'strange',NULL,0,'robot','["r"]','r');
INSERT INTO "scopes" VALUES('begun',0,'begun',NULL,0,'robot','["slow"]','slow');
INSERT INTO "scopes" VALUES('session-5801d980bb77',0,'session-5801d980bb77',NULL,0,'session','[]',NULL);
INSERT INTO "scopes" VALUES('d622cd01f2b3',0,'d622cd01f2b3',NULL,0,'experiment','["tried"]',NULL);
INSERT INTO "scopes" VALUES('d622cd01f2b3',3,'449aab9b8858','d622cd01f2b3',1,'robot','["tried","cell:0"]','prompt 1');
INSERT INTO "scopes" VALUES('d622cd01f2b3',14,'84da1a0db121','d622cd01f2b3',1,'robot','["tried","cell:1"]','prompt 2');
INSERT INTO "scopes" VALUES('d622cd01f2b3',25,'aac7d9074658','d622cd01f2b3',1,'robot','["tried","cell:2"]','prompt 1');
INSERT INTO "scopes" VALUES('d622cd01f2b3',36,'9bfd11053a07','d622cd01f2b3',1,'robot','["tried","cell:3"]','prompt 2');
CREATE TABLE tags (
	run_id TEXT NOT NULL, 
	tag TEXT NOT NULL, 
	"by" TEXT NOT NULL, 
	at BIGINT, 
	PRIMARY KEY (run_id, tag)
);
INSERT INTO "tags" VALUES('strange','été','run',1796075380403442);
INSERT INTO "tags" VALUES('strange','a\\b','run',1796075380403445);
INSERT INTO "tags" VALUES('begun','kept','person',1796075380469825);
CREATE TABLE writers (
	writer_id TEXT NOT NULL, 
	pid BIGINT, 
	host TEXT, 
	process_started BIGINT, 
	started_at BIGINT, 
	seen_at BIGINT, 
	ended_at BIGINT, 
	PRIMARY KEY (writer_id)
);
INSERT INTO "writers" VALUES('golden',1,'a machine that was',1,1772366400000000,1772366400000000,NULL);
CREATE INDEX roots_by_start ON roots (started_at, root_id);
CREATE INDEX roots_by_status ON roots (status);
CREATE INDEX runs_by_status ON runs (status);
CREATE INDEX runs_by_started_at ON runs (started_at);
CREATE INDEX runs_by_model ON runs (model);
CREATE INDEX runs_by_root_id ON runs (root_id);
CREATE INDEX runs_by_task ON runs (task);
CREATE INDEX runs_by_prompt_hash ON runs (prompt_hash);
CREATE INDEX runs_by_session_id ON runs (session_id);
CREATE INDEX runs_by_root_start ON runs (root_started_at, root_id, number);
CREATE INDEX runs_by_robot ON runs (robot);
CREATE INDEX tags_by_tag ON tags (tag);
CREATE INDEX cells_by_key ON cells (cell_key);
COMMIT;

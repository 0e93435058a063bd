PRAGMA application_id=1380740706;
BEGIN TRANSACTION;
CREATE TABLE events (
	root_id TEXT NOT NULL, 
	seq BIGINT NOT NULL, 
	scope_no BIGINT NOT NULL, 
	type TEXT NOT NULL, 
	elapsed DOUBLE, 
	data TEXT NOT NULL, 
	PRIMARY KEY (root_id, seq)
);
INSERT INTO "events" VALUES('ee31425f4c16',0,0,'run.started',8.98986209999748098198e-02,'{"name":"adder","model":"scripted/model","provider":"scripted","simulated":true,"input":"What is 1 + 2?","config":{"log":{"value":null,"origin":"options"},"model":{"value":"scripted/model","origin":"robot"},"tools":{"value":["add"],"origin":"robot"}},"tools":["add"],"prompt_hash":"213c22ed7234eb11116e1e88f314c73cb3a019b5c87fe224b6ce5665bd9ec50e","schema_version":1,"started_at":"2026-11-30T17:33:44.393613+00:00"}');
INSERT INTO "events" VALUES('ee31425f4c16',1,0,'message.added',9.16767359999539621639e-02,'{"message":{"id":"29cf1377644b46a67d4f3421c26b96c5667d28c8486de5225abb9fbcad4f8d59","role":"system","parts":[{"kind":"text","text":"Be brief."}]}}');
INSERT INTO "events" VALUES('ee31425f4c16',2,0,'message.added',9.1699238999808585504e-02,'{"message":{"id":"e6fb5d1a68b7c1355a159631cf4377d823778d03e5a8d35619dd0d1af5330732","role":"user","parts":[{"kind":"text","text":"What is 1 + 2?"}]}}');
INSERT INTO "events" VALUES('ee31425f4c16',3,0,'model_call.started',9.17863189997660811059e-02,'{"call_id":"ee31425f4c16.1","round":1,"model":"scripted/model","provider":"scripted","endpoint":null,"simulated":true,"request_key":"de0bedafab669512537feb2d465666426292ddd7f5b0fa20d3a01bb974364d1f","message_ids":["29cf1377644b46a67d4f3421c26b96c5667d28c8486de5225abb9fbcad4f8d59","e6fb5d1a68b7c1355a159631cf4377d823778d03e5a8d35619dd0d1af5330732"],"tools":["add"],"params":{},"streaming":false}');
INSERT INTO "events" VALUES('ee31425f4c16',4,0,'attempt.completed',9.19272080000155256129e-02,'{"call_id":"ee31425f4c16.1","attempt":1,"model":"scripted/model","started_s":3.525200008880347e-05,"duration_s":0.00011128599999210564}');
INSERT INTO "events" VALUES('ee31425f4c16',5,0,'model_call.completed',9.19827210000221384689e-02,'{"call_id":"ee31425f4c16.1","text":"","stop_reason":"tool","finish_reason":null,"usage":{"input_tokens":62,"output_tokens":5,"reasoning_tokens":null,"cached_tokens":null,"estimated":false,"cost_usd":0.0,"cost_complete":true,"calls":1},"attempts":1,"duration_s":0.00020164999978078413,"first_token_s":9.541200006424333e-05,"response_id":null,"response_model":null}');
INSERT INTO "events" VALUES('ee31425f4c16',6,0,'message.added',0.0920090300000993,'{"message":{"id":"773861bb7595d22ab6a54934df41781631a53b2391418f967ca057cfe1db41f9","role":"assistant","parts":[{"kind":"tool_call","name":"add","arguments":"{\"a\": 1, \"b\": 2}","id":"call_ee31425f4c16_1"}]},"stop_reason":"tool"}');
INSERT INTO "events" VALUES('ee31425f4c16',7,0,'tool_call.started',9.20663150000109453685e-02,'{"tool_call_id":"call_ee31425f4c16_1","call_id":"ee31425f4c16.1","round":1,"tool":"add","source":"function in make_golden.py","arguments":{"a":1,"b":2},"arguments_text":"{\"a\": 1, \"b\": 2}"}');
INSERT INTO "events" VALUES('ee31425f4c16',8,0,'tool_call.completed',6.38870956000118894735e-01,'{"tool_call_id":"call_ee31425f4c16_1","status":"completed","content":"3","duration_s":0.5467860130002009,"result":3}');
INSERT INTO "events" VALUES('ee31425f4c16',9,0,'message.added',0.638963443999728,'{"message":{"id":"4cd380e0b9f9328da261aa5964fbb9c80cb076c801106fee158e6a07a28e1166","role":"tool","parts":[{"kind":"tool_result","name":"add","content_text":"3","data":3,"id":"call_ee31425f4c16_1"}]}}');
INSERT INTO "events" VALUES('ee31425f4c16',10,0,'model_call.started',6.3902473500002088258e-01,'{"call_id":"ee31425f4c16.2","round":2,"model":"scripted/model","provider":"scripted","endpoint":null,"simulated":true,"request_key":"c6388a7c8c7cdb85422acd2fd45adec924f8b8c3e8f101e677580e9c68a78d1a","message_ids":["29cf1377644b46a67d4f3421c26b96c5667d28c8486de5225abb9fbcad4f8d59","e6fb5d1a68b7c1355a159631cf4377d823778d03e5a8d35619dd0d1af5330732","773861bb7595d22ab6a54934df41781631a53b2391418f967ca057cfe1db41f9","4cd380e0b9f9328da261aa5964fbb9c80cb076c801106fee158e6a07a28e1166"],"tools":["add"],"params":{},"streaming":false}');
INSERT INTO "events" VALUES('ee31425f4c16',11,0,'attempt.completed',6.39270670999849244253e-01,'{"call_id":"ee31425f4c16.2","attempt":1,"model":"scripted/model","started_s":3.69149997823115e-05,"duration_s":0.00021383900002547307}');
INSERT INTO "events" VALUES('ee31425f4c16',12,0,'model_call.completed',6.39325912999993306584e-01,'{"call_id":"ee31425f4c16.2","text":"three \ud83d\ude00","stop_reason":"stop","finish_reason":null,"usage":{"input_tokens":76,"output_tokens":3,"reasoning_tokens":null,"cached_tokens":null,"estimated":false,"cost_usd":0.0,"cost_complete":true,"calls":1},"attempts":1,"duration_s":0.00030629599996245815,"first_token_s":0.000188890999652358,"response_id":null,"response_model":null}');
INSERT INTO "events" VALUES('ee31425f4c16',13,0,'message.added',6.39355947999774798518e-01,'{"message":{"id":"c0085d978179e7efc6c92d65cf8aaaf83fcae508a67b9c450bfb92233f039e3d","role":"assistant","parts":[{"kind":"text","text":"three \ud83d\ude00"}]},"stop_reason":"stop"}');
INSERT INTO "events" VALUES('ee31425f4c16',14,0,'conversation.committed',6.39380313999936333857e-01,'{"length":4}');
INSERT INTO "events" VALUES('ee31425f4c16',15,0,'run.completed',6.39391180000075110001e-01,'{"stop_reason":"stop"}');
INSERT INTO "events" VALUES('2138b1c56477',0,0,'run.started',1.47417810003389604389e-02,'{"name":"support","input":"I was charged twice","graph":[{"task":"draft","kind":"robot","robot":"writer","depends_on":[],"optional":false,"route":false,"when":false,"fallback":null,"on_failure":"block","fingerprint":{"definition":"4cfa1e96103ac057","prompt":"2dac76d521b05be9","model":"914c35322eaa58b4","settings":"e10808d43975dc40","tools":"12ae32cb1ec02d01"}},{"task":"try","kind":"robot","robot":"trier","depends_on":["draft"],"optional":false,"route":false,"when":false,"fallback":null,"on_failure":"block","fingerprint":{"definition":"23a1d2fc2428ce63","prompt":"2dac76d521b05be9","model":"914c35322eaa58b4","settings":"e10808d43975dc40","tools":"4c2a8bbad10baaab"}},{"task":"bad","kind":"function","robot":null,"depends_on":[],"optional":false,"route":false,"when":false,"fallback":null,"on_failure":"block","fingerprint":{"definition":"01b67f7bd01347f4","prompt":"74234e98afe7498f","source":"0eff0322fdde1247"}},{"task":"after","kind":"robot","robot":"last","depends_on":["bad"],"optional":false,"route":false,"when":false,"fallback":null,"on_failure":"block","fingerprint":{"definition":"963e417d0d3f4686","prompt":"2dac76d521b05be9","model":"914c35322eaa58b4","settings":"e10808d43975dc40","tools":"12ae32cb1ec02d01"}}],"schema_version":1,"started_at":"2026-11-30T17:33:45.026757+00:00"}');
INSERT INTO "events" VALUES('2138b1c56477',1,1,'task.started',1.86972050000804301816e-02,'{"task":"draft","kind":"robot","waited_s":0.00038655600019410485,"child_run_id":"1184e4e8cf75","robot":"writer"}');
INSERT INTO "events" VALUES('2138b1c56477',2,2,'run.started',1.87937980003880511503e-02,'{"name":"writer","model":"scripted/model","provider":"scripted","simulated":true,"input":"I was charged twice","config":{"log":{"value":null,"origin":"options"},"model":{"value":"scripted/model","origin":"robot"}},"tools":[],"prompt_hash":null}');
INSERT INTO "events" VALUES('2138b1c56477',3,2,'message.added',1.88421699999707925599e-02,'{"message":{"id":"85a187b1e95eccf366f7e1d49d6636b47340847165af169b126fdd28a59fc67e","role":"user","parts":[{"kind":"text","text":"I was charged twice"}]}}');
INSERT INTO "events" VALUES('2138b1c56477',4,2,'model_call.started',1.88916340002833749167e-02,'{"call_id":"1184e4e8cf75.1","round":1,"model":"scripted/model","provider":"scripted","endpoint":null,"simulated":true,"request_key":"06fa31e3089636c927eea542bcaa67c4f491d5fb3b6d753b5f1398dfc621e735","message_ids":["85a187b1e95eccf366f7e1d49d6636b47340847165af169b126fdd28a59fc67e"],"tools":[],"params":{},"streaming":false}');
INSERT INTO "events" VALUES('2138b1c56477',5,2,'attempt.completed',1.90257130002464691642e-02,'{"call_id":"1184e4e8cf75.1","attempt":1,"model":"scripted/model","started_s":3.381999977136729e-05,"duration_s":0.00010450600029798807}');
INSERT INTO "events" VALUES('2138b1c56477',6,2,'model_call.completed',1.9074095000178203918e-02,'{"call_id":"1184e4e8cf75.1","text":"a draft","stop_reason":"stop","finish_reason":null,"usage":{"input_tokens":9,"output_tokens":2,"reasoning_tokens":null,"cached_tokens":null,"estimated":false,"cost_usd":0.0,"cost_complete":true,"calls":1},"attempts":1,"duration_s":0.00018591599973660777,"first_token_s":0.00010050899982161354,"response_id":null,"response_model":null}');
INSERT INTO "events" VALUES('2138b1c56477',7,2,'message.added',1.90921120001803501509e-02,'{"message":{"id":"ca049ac88a3131879bb0a7cc56770e9dcdf3104e3525bcf239859bcbc72b0295","role":"assistant","parts":[{"kind":"text","text":"a draft"}]},"stop_reason":"stop"}');
INSERT INTO "events" VALUES('2138b1c56477',8,2,'run.completed',1.91138850000243110116e-02,'{"stop_reason":"stop"}');
INSERT INTO "events" VALUES('2138b1c56477',9,1,'task.completed',2.11665380002159508876e-02,'{"task":"draft","text":"a draft"}');
INSERT INTO "events" VALUES('2138b1c56477',10,10,'task.started',2.12592660000154864974e-02,'{"task":"bad","kind":"function","waited_s":0.002951561000372749}');
INSERT INTO "events" VALUES('2138b1c56477',11,11,'task.started',2.1645661000093241455e-02,'{"task":"try","kind":"robot","waited_s":0.00023235600019688718,"child_run_id":"f70f8210507c","robot":"trier"}');
INSERT INTO "events" VALUES('2138b1c56477',12,12,'run.started',2.17324200002622092142e-02,'{"name":"trier","model":"scripted/model","provider":"scripted","simulated":true,"input":"a draft","config":{"log":{"value":null,"origin":"options"},"model":{"value":"scripted/model","origin":"robot"},"tools":{"value":["fail"],"origin":"robot"}},"tools":["fail"],"prompt_hash":null}');
INSERT INTO "events" VALUES('2138b1c56477',13,12,'message.added',2.17975770001430646516e-02,'{"message":{"id":"1091310cf6b4779b976ccd6c2a69d75dbab86a5e21ca2b892ed2c689b883b841","role":"user","parts":[{"kind":"text","text":"a draft"}]}}');
INSERT INTO "events" VALUES('2138b1c56477',14,12,'model_call.started',2.18411220002963091246e-02,'{"call_id":"f70f8210507c.1","round":1,"model":"scripted/model","provider":"scripted","endpoint":null,"simulated":true,"request_key":"0b8c2572af85fc8fa06b6964fa576bfd197906e88f6d6ca7c24e85df33ecf386","message_ids":["1091310cf6b4779b976ccd6c2a69d75dbab86a5e21ca2b892ed2c689b883b841"],"tools":["fail"],"params":{},"streaming":false}');
INSERT INTO "events" VALUES('2138b1c56477',15,12,'attempt.completed',2.196346400023685419e-02,'{"call_id":"f70f8210507c.1","attempt":1,"model":"scripted/model","started_s":2.979400005642674e-05,"duration_s":9.799600002224906e-05}');
INSERT INTO "events" VALUES('2138b1c56477',16,12,'model_call.completed',2.20106639999357867054e-02,'{"call_id":"f70f8210507c.1","text":"","stop_reason":"tool","finish_reason":null,"usage":{"input_tokens":46,"output_tokens":5,"reasoning_tokens":null,"cached_tokens":null,"estimated":false,"cost_usd":0.0,"cost_complete":true,"calls":1},"attempts":1,"duration_s":0.0001747100000102364,"first_token_s":8.247300002039992e-05,"response_id":null,"response_model":null}');
INSERT INTO "events" VALUES('2138b1c56477',17,12,'message.added',2.21055550000528455711e-02,'{"message":{"id":"3a6b16a55bc8033794a29dfb2d33b43ec030ddfd3f8f2f21fd86e47669e0b595","role":"assistant","parts":[{"kind":"tool_call","name":"fail","arguments":"{\"text\": \"x\"}","id":"call_f70f8210507c_1"}]},"stop_reason":"tool"}');
INSERT INTO "events" VALUES('2138b1c56477',18,12,'tool_call.started',2.21684490002189704682e-02,'{"tool_call_id":"call_f70f8210507c_1","call_id":"f70f8210507c.1","round":1,"tool":"fail","source":"function in make_golden.py","arguments":{"text":"x"},"arguments_text":"{\"text\": \"x\"}"}');
INSERT INTO "events" VALUES('2138b1c56477',19,10,'task.failed',2.6893388000189588638e-02,'{"task":"bad","error":{"type":"ZeroDivisionError","message":"division by zero"},"traceback":"Traceback (most recent call last): \u2026"}');
INSERT INTO "events" VALUES('2138b1c56477',20,20,'task.settled',2.6991062999968562508e-02,'{"task":"after","status":"blocked","reason":"needs bad"}');
INSERT INTO "events" VALUES('2138b1c56477',21,12,'tool_call.completed',2.72107300002062402199e-02,'{"tool_call_id":"call_f70f8210507c_1","status":"failed","content":"Error (fail): no good: x","duration_s":0.005029112000102032,"error":{"type":"ValueError","message":"no good: x"},"retryable":false,"traceback":"Traceback (most recent call last): \u2026"}');
INSERT INTO "events" VALUES('2138b1c56477',22,12,'message.added',2.72701880003296537324e-02,'{"message":{"id":"48943d88464891d1a9dd8fe4b891ac12085cddc262478c1ef5d384a9fb1bbf81","role":"tool","parts":[{"kind":"tool_result","name":"fail","content_text":"Error (fail): no good: x","is_error":true,"id":"call_f70f8210507c_1"}]}}');
INSERT INTO "events" VALUES('2138b1c56477',23,12,'model_call.started',2.73152650001975416671e-02,'{"call_id":"f70f8210507c.2","round":2,"model":"scripted/model","provider":"scripted","endpoint":null,"simulated":true,"request_key":"63771bf6b59c58ab0972cb983db5ecbb73210615db6e4a59187c9097eaee5472","message_ids":["1091310cf6b4779b976ccd6c2a69d75dbab86a5e21ca2b892ed2c689b883b841","3a6b16a55bc8033794a29dfb2d33b43ec030ddfd3f8f2f21fd86e47669e0b595","48943d88464891d1a9dd8fe4b891ac12085cddc262478c1ef5d384a9fb1bbf81"],"tools":["fail"],"params":{},"streaming":false}');
INSERT INTO "events" VALUES('2138b1c56477',24,12,'attempt.completed',2.74144530003468389622e-02,'{"call_id":"f70f8210507c.2","attempt":1,"model":"scripted/model","started_s":2.926400020442088e-05,"duration_s":7.464100008292007e-05}');
INSERT INTO "events" VALUES('2138b1c56477',25,12,'model_call.completed',2.74558139999498962424e-02,'{"call_id":"f70f8210507c.2","text":"it failed","stop_reason":"stop","finish_reason":null,"usage":{"input_tokens":65,"output_tokens":3,"reasoning_tokens":null,"cached_tokens":null,"estimated":false,"cost_usd":0.0,"cost_complete":true,"calls":1},"attempts":1,"duration_s":0.00014490600005956367,"first_token_s":6.872300036775414e-05,"response_id":null,"response_model":null}');
INSERT INTO "events" VALUES('2138b1c56477',26,12,'message.added',2.74749130003328900784e-02,'{"message":{"id":"e94e0a59f5fc2cae1a42f48f0a25344bbaaa42b8d4a09c98c6494a328651bfae","role":"assistant","parts":[{"kind":"text","text":"it failed"}]},"stop_reason":"stop"}');
INSERT INTO "events" VALUES('2138b1c56477',27,12,'run.completed',2.74945220003246504347e-02,'{"stop_reason":"stop"}');
INSERT INTO "events" VALUES('2138b1c56477',28,11,'task.completed',2.75438349999603815376e-02,'{"task":"try","text":"it failed"}');
INSERT INTO "events" VALUES('2138b1c56477',29,0,'run.failed',0.0276260480000019,'{"error":{"type":"NetworkFailed","message":"network ''support'' failed: bad: division by zero","hint":"The other tasks'' results are there: result[''task''].","retryable":false}}');
INSERT INTO "events" VALUES('strange',0,0,'run.started',0.0,'{"schema_version":1,"started_at":"2026-03-01T12:00:00+00:00","name":"nul\u0000 \ud800 \\ %_*","model":"test/m","input":"Hello","tags":["\u00e9t\u00e9","a\\b"]}');
INSERT INTO "events" VALUES('strange',1,0,'model_call.started',0.125,'{"call_id":"strange.1","round":1,"model":"test/m","simulated":false}');
INSERT INTO "events" VALUES('strange',2,0,'model_call.completed',0.25,'{"call_id":"strange.1","text":"ok","stop_reason":"stop","usage":{"input_tokens":10,"output_tokens":5,"cost_usd":0.25,"cost_complete":true,"calls":1},"attempts":1}');
INSERT INTO "events" VALUES('strange',3,3,'memory.set',0.5,' {"key":"a","value":{"split":"\uD83D\uDE00","whole":"\ud83d\ude00","nul":"\u0000","nan":NaN,"inf":[Infinity,-Infinity,-0.0],"big":100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000,"wide":36893488147419103232,"deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]],"rtl":"\u202e","back":"\\ud83d\\\\"}}');
INSERT INTO "events" VALUES('begun',0,0,'run.started',0.0,'{"schema_version":1,"started_at":"2026-03-01T13:00:00+00:00","name":"slow","model":"test/m","input":"Hello"}');
INSERT INTO "events" VALUES('begun',1,0,'model_call.started',0.125,'{"call_id":"begun.1","round":1,"model":"test/m","simulated":false}');
INSERT INTO "events" VALUES('begun',2,0,'model_call.completed',0.25,'{"call_id":"begun.1","text":"ok","stop_reason":"stop","usage":{"input_tokens":10,"output_tokens":5,"cost_usd":0.25,"cost_complete":true,"calls":1},"attempts":1}');
INSERT INTO "events" VALUES('session-4445e1b9bb79',0,0,'run.started',3.3538999559823423624e-05,'{"schema_version":1,"started_at":"2026-11-30T17:33:43.909146+00:00","name":"session"}');
INSERT INTO "events" VALUES('session-4445e1b9bb79',1,0,'memory.set',4.22119996983383316546e-05,'{"key":"draft","value":"Dear all","version":1,"created":true,"writer":"session","network":null}');
CREATE TABLE meta (
	"key" TEXT NOT NULL, 
	value TEXT, 
	PRIMARY KEY ("key")
);
INSERT INTO "meta" VALUES('schema_version','1');
INSERT INTO "meta" VALUES('made_by','0.1.0');
INSERT INTO "meta" VALUES('made_at','1796060027182610');
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
INSERT INTO "partials" VALUES('begun','begun',0,'begun.1',1,'text','"Once upon \ud83d"',1796060027289252);
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
INSERT INTO "roots" VALUES('ee31425f4c16','golden','robot','adder',1796060024303714,1,'completed',15,1796060024943105);
INSERT INTO "roots" VALUES('2138b1c56477','golden','network','support',1796060025012015,1,'failed',29,1796060025039641);
INSERT INTO "roots" VALUES('strange','golden','robot','nul\u0000 \ud800 \\ %_*',1772366400000000,1,'running',3,NULL);
INSERT INTO "roots" VALUES('begun','golden','robot','slow',1772370000000000,1,'running',2,NULL);
INSERT INTO "roots" VALUES('session-4445e1b9bb79','golden','session','session',1796060023909112,1,'session',1,NULL);
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
INSERT INTO "runs" VALUES('ee31425f4c16','ee31425f4c16',NULL,'robot','adder',NULL,NULL,'adder','scripted/model','completed','stop',NULL,'213c22ed7234eb11116e1e88f314c73cb3a019b5c87fe224b6ce5665bd9ec50e',NULL,NULL,'What is 1 + 2?',1796060024393613,1796060024943105,2,1,138,8,NULL,NULL,1,0,0.0,1,0,1796060024303714);
INSERT INTO "runs" VALUES('2138b1c56477','2138b1c56477',NULL,'network','support','support',NULL,NULL,NULL,'failed',NULL,NULL,NULL,NULL,'NetworkFailed','I was charged twice',1796060025026757,1796060025039641,0,0,NULL,NULL,NULL,NULL,1,0,NULL,1,0,1796060025012015);
INSERT INTO "runs" VALUES('1184e4e8cf75','2138b1c56477','2138b1c56477','robot','writer','support','draft','writer','scripted/model','completed','stop',NULL,NULL,NULL,NULL,'I was charged twice',1796060025030809,1796060025031129,1,0,9,2,NULL,NULL,1,0,0.0,1,2,1796060025012015);
INSERT INTO "runs" VALUES('f70f8210507c','2138b1c56477','2138b1c56477','robot','trier','support','try','trier','scripted/model','completed','stop',NULL,NULL,NULL,NULL,'a draft',1796060025033747,1796060025039510,2,1,111,8,NULL,NULL,1,0,0.0,1,12,1796060025012015);
INSERT INTO "runs" VALUES('strange','strange',NULL,'robot','nul\u0000 \ud800 \\ %_*',NULL,NULL,'nul\u0000 \ud800 \\ %_*','test/m','running','stop',NULL,NULL,NULL,NULL,'Hello',1772366400000000,NULL,1,0,10,5,NULL,NULL,0,0,0.25,1,0,1772366400000000);
INSERT INTO "runs" VALUES('begun','begun',NULL,'robot','slow',NULL,NULL,'slow','test/m','running','stop',NULL,NULL,NULL,NULL,'Hello',1772370000000000,NULL,1,0,10,5,NULL,NULL,0,0,0.25,1,0,1772370000000000);
INSERT INTO "runs" VALUES('session-4445e1b9bb79','session-4445e1b9bb79',NULL,'session','session',NULL,NULL,NULL,NULL,'running',NULL,NULL,NULL,NULL,NULL,NULL,1796060023909146,NULL,0,0,NULL,NULL,NULL,NULL,0,0,NULL,1,0,1796060023909112);
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
INSERT INTO "scopes" VALUES('ee31425f4c16',0,'ee31425f4c16',NULL,0,'robot','["adder"]','adder');
INSERT INTO "scopes" VALUES('2138b1c56477',0,'2138b1c56477',NULL,0,'network','["support"]',NULL);
INSERT INTO "scopes" VALUES('2138b1c56477',1,'2138b1c56477',NULL,0,'task','["support","draft"]','writer');
INSERT INTO "scopes" VALUES('2138b1c56477',2,'1184e4e8cf75','2138b1c56477',1,'robot','["support","draft"]','writer');
INSERT INTO "scopes" VALUES('2138b1c56477',10,'2138b1c56477',NULL,0,'task','["support","bad"]',NULL);
INSERT INTO "scopes" VALUES('2138b1c56477',11,'2138b1c56477',NULL,0,'task','["support","try"]','trier');
INSERT INTO "scopes" VALUES('2138b1c56477',12,'f70f8210507c','2138b1c56477',1,'robot','["support","try"]','trier');
INSERT INTO "scopes" VALUES('2138b1c56477',20,'2138b1c56477',NULL,0,'task','["support","after"]','last');
INSERT INTO "scopes" VALUES('strange',0,'strange',NULL,0,'robot','["nul\u0000 \ud800 \\ %_*"]','nul\u0000 \ud800 \\ %_*');
INSERT INTO "scopes" VALUES('strange',3,'strange',NULL,0,'robot','["r"]','r');
INSERT INTO "scopes" VALUES('begun',0,'begun',NULL,0,'robot','["slow"]','slow');
INSERT INTO "scopes" VALUES('session-4445e1b9bb79',0,'session-4445e1b9bb79',NULL,0,'session','[]',NULL);
CREATE TABLE tags (
	run_id TEXT NOT NULL, 
	tag TEXT NOT NULL, 
	"by" TEXT NOT NULL, 
	at BIGINT, 
	PRIMARY KEY (run_id, tag)
);
INSERT INTO "tags" VALUES('strange','été','run',1796060027286683);
INSERT INTO "tags" VALUES('strange','a\\b','run',1796060027286688);
INSERT INTO "tags" VALUES('begun','kept','person',1796060027310704);
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
CREATE INDEX roots_by_status ON roots (status);
CREATE INDEX roots_by_start ON roots (started_at, root_id);
CREATE INDEX runs_by_model ON runs (model);
CREATE INDEX runs_by_started_at ON runs (started_at);
CREATE INDEX runs_by_robot ON runs (robot);
CREATE INDEX runs_by_task ON runs (task);
CREATE INDEX runs_by_root_id ON runs (root_id);
CREATE INDEX runs_by_prompt_hash ON runs (prompt_hash);
CREATE INDEX runs_by_status ON runs (status);
CREATE INDEX runs_by_session_id ON runs (session_id);
CREATE INDEX runs_by_root_start ON runs (root_started_at, root_id, number);
CREATE INDEX tags_by_tag ON tags (tag);
COMMIT;

import { createNodeSocketSinks } from "../../../gateway/sinks/node_socket_sink.ts";
import { createReadableStreamSinks } from "../../../gateway/sinks/readable_stream_sink.ts";
import { describeSink } from "./sink_suite.ts";

describeSink("Node socket sink", createNodeSocketSinks(createReadableStreamSinks()));

import { createNeonWebsocketDatabase } from "../../drizzle/databases/neon_websocket.ts";
import { describeIsolation } from "./isolation_suite.ts";
import { openOnNeon } from "./open_databases.ts";
import { describeQueries } from "./query_suite.ts";

const open = () => openOnNeon((url) => createNeonWebsocketDatabase(url, { maxConnections: 1 }));

describeIsolation("Neon's WebSocket", open);
describeQueries("Neon's WebSocket", open);

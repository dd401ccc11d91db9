import type { Context, Hono, MiddlewareHandler } from "hono";
import { describeRoute, resolver } from "hono-openapi";
import * as v from "valibot";
import { NotFound } from "../../shared/app_error.ts";
import { pageOf, uuid } from "../../shared/schemas/primitives.ts";
import { lowerCaseUuids } from "../../shared/channel_name.ts";
import type { Access } from "../auth/membership.ts";
import type { Permission } from "../auth/permissions.ts";
import type { AllowedPrincipal } from "../auth/principal.ts";
import {
  component,
  json,
  parameter,
  problem,
  refusals,
  tenantParameter,
  type Answers,
} from "../description/operation.ts";
import { accountOf } from "../limits.ts";
import { allow, allowReader, type Allowed } from "./allow.ts";
import { parseBody, readJson, type BodyOptions } from "./body.ts";
import {
  ofResource,
  pageParameters,
  parsePageRequest,
  toPage,
  type CursorKind,
  type List,
  type PageRequest,
} from "./paging.ts";
import { readQuery, type QueryParameters, type QueryValues } from "./query_parameter.ts";

export interface ResourceOptions {
  /** Tag of its operations in the OpenAPI document. */
  readonly tag: string;
  /** The kind of thing that an id in its paths names, as in `No such scan`; null: nothing is looked up by it. */
  readonly what: string | null;
  /** The parameter of its paths that names one. Default: `id`, a UUID. */
  readonly id?: { readonly name: string; readonly description: string; readonly schema: v.GenericSchema };
}

/** The declaration of a route: its permission, what it reads of a request, and what the OpenAPI document says of it. */
export interface RouteOptions<Schema extends v.GenericSchema, Parameters extends QueryParameters> {
  readonly allow: Permission;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly body?: RouteBody<Schema>;
  readonly query?: Parameters;
  /** Given: the answer has pages. */
  readonly page?: CursorKind;
  /** The refusals that follow from the permission, the body, the query and the id are added. */
  readonly answers: Answers;
}

export interface RouteBody<Schema extends v.GenericSchema> extends Pick<BodyOptions, "whenEmpty"> {
  readonly schema: Schema;
  readonly example: unknown;
  /** The handler reads it. */
  readonly isReadByHandler?: true;
}

type DescribedRoute = RouteOptions<v.GenericSchema, QueryParameters>;

export interface ListOptions<Row, Parameters extends QueryParameters> extends Omit<
  RouteOptions<v.GenericSchema, Parameters>,
  "body" | "page" | "answers"
> {
  readonly list: List<Row>;
  /** The schema of one item, and the name of the page's. */
  readonly of: readonly [item: v.GenericSchema, pageName: string];
  readonly answer?: string;
}

/** A request of an allowed caller. Its parts are read, and refused, before the handler runs. */
export interface Call<Body, Parameters> extends Access {
  readonly c: Context<Allowed>;
  readonly principal: AllowedPrincipal;
  /** The id in the path; empty where there is none. */
  readonly id: string;
  readonly page: PageRequest;
  readonly parameters: Parameters;
  readonly body: Body;
}

export type Resource = ReturnType<typeof defineResource>;

const maxBodyBytes = 65_536;

/** Defines the routes of one kind of resource. The caller is authenticated before any of the request's body is read. */
export function defineResource(routes: Hono<Allowed>, resource: ResourceOptions) {
  return { on, list };

  /**
   * `route` is method and path below `/api/v1`: `GET /scans/:id`. What the handler returns (a text is JSON already) is answered with the
   * first status of the answers, nothing with 204.
   */
  function on<const Schema extends v.GenericSchema, const Parameters extends QueryParameters = QueryParameters>(
    route: string,
    options: RouteOptions<Schema, Parameters>,
    handle: (call: Call<v.InferOutput<Schema>, QueryValues<Parameters>>) => Promise<Response | object | string | void>,
  ): void {
    const [method = "", path = ""] = route.split(" ");
    const { body, query, page = null, answers } = options;
    const [status] = Object.keys(answers).map(Number);
    const allowCaller = method === "GET" ? allowReader : allow;
    routes.on(method, path, allowCaller(options.allow), describe(path, options, resource), async (c) => {
      const { principal, readOne, read, write } = c.var;
      // In this order a request is refused for the first of them that is wrong.
      const id = readId(c, path, resource);
      const answer = await handle({
        c,
        principal,
        id,
        readOne,
        read,
        write,
        page: page === null ? noPage : parsePageRequest(c.req.url, ofResource(page, id)),
        // Without parameters there are no values.
        parameters: readQuery(c, query ?? ({} as NonNullable<typeof query>)),
        body: body === undefined || body.isReadByHandler === true ? undefined : await readBody(c.req.raw, body),
      });
      if (answer instanceof Response) return answer;
      if (answer === undefined) return c.body(null, 204);
      const text = typeof answer === "string" ? answer : JSON.stringify(answer);
      // A change that was stored is not refused any more; its answer is small.
      if (method === "GET") accountOf(c.req.raw).takeAnswer(text.length);
      return c.body(text, status as 200, { "content-type": "application/json" });
    });
  }

  /** A list in pages; `select` reads one row beyond the limit. */
  function list<Row, const Parameters extends QueryParameters = QueryParameters>(
    route: string,
    { list: rows, of: [item, pageName], answer = "One page", ...options }: ListOptions<Row, Parameters>,
    select: (call: Call<unknown, QueryValues<Parameters>>) => Promise<readonly Row[]>,
  ): void {
    const page = component(pageName, pageOf(item));
    const answers = { 200: json(page, answer) };
    on(route, { ...options, page: rows, answers }, async (call) =>
      toPage(await select(call), call.page.limit, ofResource(rows, call.id)),
    );
  }
}

const noPage: PageRequest = { limit: 0, after: null };

/** Throws `NotFound` for what can name nothing, as for an unknown id. */
function readId(c: Context, path: string, { what, id }: ResourceOptions): string {
  const name = id?.name ?? "id";
  if (!path.includes(`:${name}`)) return "";
  const value = lowerCaseUuids(c.req.param(name) ?? "");
  if (v.is(id?.schema ?? uuidSchema, value)) return value;
  throw new NotFound(`No such ${what ?? name}`);
}

async function readBody<Schema extends v.GenericSchema>(
  request: Request,
  { schema, ...options }: RouteBody<Schema>,
): Promise<v.InferOutput<Schema>> {
  return parseBody(schema, await readJson(request, { maxBytes: maxBodyBytes, ...options }));
}

const uuidSchema = uuid();

/** Describes a route, with what follows from its path, its permission and its input. */
function describe(path: string, options: DescribedRoute, { tag, what, id }: ResourceOptions): MiddlewareHandler {
  const { allow, operationId, summary, description, body, page, query = {}, answers } = options;
  const {
    name,
    schema,
    description: named,
  } = id ?? { name: "id", schema: uuidSchema, description: `The ${what}'s id` };
  const ofPath = path.includes(`:${name}`) ? [parameter("path", name, v.pipe(schema, v.description(named)))] : [];
  const ofQuery = Object.entries(query).map((one) => parameter("query", ...one));
  const ofTenant = allow === "publish" ? [] : [tenantParameter];
  const content = body !== undefined && {
    "application/json": { schema: resolver(body.schema), example: body.example },
  };
  return describeRoute({
    operationId,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(allow === "publish" && { security: [{ apiKey: [] }] }),
    parameters: [...ofPath, ...(page === undefined ? [] : pageParameters), ...ofQuery, ...ofTenant],
    ...(content !== false && { requestBody: { required: body?.whenEmpty === undefined, content } }),
    responses: {
      ...refusals(400, 401, 403, 429, 503),
      ...(content !== false && refusals(413, 415, 422)),
      ...(ofPath.length > 0 && what !== null && { 404: problem(`No such ${what} in this tenant`) }),
      ...answers,
    },
  });
}

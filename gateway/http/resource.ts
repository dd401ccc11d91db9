import { Hono, type Context } from "hono";
import { describeRoute, resolver, type DescribeRouteOptions } from "hono-openapi";
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
import { pageParameters, parsePageRequest, readQuery, toPage } from "./query.ts";
import type { IsKey, List, PageRequest, QueryParameters, QueryValues } from "./query.ts";

export interface ResourceOptions {
  /** Tag of its operations in the OpenAPI document. */
  readonly tag: string;
  /** The kind of thing that an id in its paths names, as in `No such scan`; null: nothing is looked up by it. */
  readonly what: string | null;
  /** The parameter of its paths that names one. Default: `id`, a UUID. */
  readonly id?: { readonly name: string; readonly description: string; readonly schema: v.GenericSchema };
}

/** The part of a route that the OpenAPI document shows: its permission, and what it reads of a request. */
interface DescribedRoute<Schema extends v.GenericSchema, Parameters extends QueryParameters> {
  readonly allow: Permission;
  readonly summary: string;
  readonly description?: string;
  readonly body?: RouteBody<Schema>;
  readonly query?: Parameters;
  /** Given: the answer has pages. */
  readonly page?: IsKey;
  /** The refusals that follow from the permission, the body, the query and the id are added. */
  readonly answers: Answers;
}

interface RouteBody<Schema extends v.GenericSchema> extends Pick<BodyOptions, "whenEmpty"> {
  readonly schema: Schema;
  readonly example: unknown;
  /** The handler reads it. */
  readonly isReadByHandler?: true;
}

interface Route<Schema extends v.GenericSchema, Parameters extends QueryParameters> extends DescribedRoute<
  Schema,
  Parameters
> {
  /** Its result (a text is JSON already) is answered with the first status of the answers, nothing with 204. */
  readonly handle: (
    call: Call<v.InferOutput<Schema>, QueryValues<Parameters>>,
  ) => Promise<Response | object | string | void>;
}

/** A list in pages. */
interface ListRoute<Row, Parameters extends QueryParameters> extends Omit<
  DescribedRoute<v.GenericSchema, Parameters>,
  "body" | "page" | "answers"
> {
  readonly list: List<Row>;
  /** The schema of one item, and the name of the page's. */
  readonly of: readonly [item: v.GenericSchema, pageName: string];
  /** Reads one row beyond the limit. */
  readonly select: (call: Call<unknown, QueryValues<Parameters>>) => Promise<readonly Row[]>;
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
const noPage: PageRequest = { limit: 0, after: null };
const uuidSchema = uuid();

/** Defines the routes of one kind of resource. The caller is authenticated before any of the request's body is read. */
export function defineResource(resource: ResourceOptions, routes = new Hono<Allowed>()) {
  return { routes, on, list };

  /** `route` is method and path below `/api/v1`: `GET /scans/:id`. `operationId` names it in the OpenAPI document. */
  function on<const Schema extends v.GenericSchema, const Parameters extends QueryParameters = QueryParameters>(
    route: string,
    operationId: string,
    { handle, ...options }: Route<Schema, Parameters>,
  ): void {
    const [method = "", path = ""] = route.split(" ");
    const { body, query, page, answers } = options;
    const [status] = Object.keys(answers).map(Number);
    const allowCaller = method === "GET" ? allowReader : allow;
    const described = { operationId, ...describe(path, options, resource) };
    routes.on(method, path, allowCaller(options.allow), describeRoute(described), async (c) => {
      // In this order a request is refused for the first of them that is wrong.
      const id = readId(c, path, resource);
      const answer = await handle({
        c,
        ...c.var,
        id,
        page: page === undefined ? noPage : parsePageRequest(c, page),
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

  function list<Row, const Parameters extends QueryParameters = QueryParameters>(
    route: string,
    operationId: string,
    { list, of: [item, pageName], select, ...options }: ListRoute<Row, Parameters>,
  ): void {
    on(route, operationId, {
      ...options,
      page: list.isKey,
      answers: { 200: json(component(pageName, pageOf(item)), "One page") },
      handle: async (call) => toPage(await select(call), list, { limit: call.page.limit, path: call.c.req.path }),
    });
  }
}

/** Throws `NotFound` for what can name nothing, as for an unknown id. */
function readId(c: Context, path: string, { what, id }: ResourceOptions): string {
  const name = id?.name ?? "id";
  if (!path.includes(`:${name}`)) return "";
  const given = c.req.param(name) ?? "";
  // Others, such as the subject of a member, are compared letter for letter.
  const value = id === undefined ? lowerCaseUuids(given) : given;
  if (v.is(id?.schema ?? uuidSchema, value)) return value;
  throw new NotFound(`No such ${what ?? name}`);
}

async function readBody<Schema extends v.GenericSchema>(
  request: Request,
  { schema, ...options }: RouteBody<Schema>,
): Promise<v.InferOutput<Schema>> {
  return parseBody(schema, await readJson(request, { maxBytes: maxBodyBytes, ...options }));
}

/** Describes a route, with what follows from its path, its permission and its input. */
function describe(
  path: string,
  options: DescribedRoute<v.GenericSchema, QueryParameters>,
  { tag, what, id = { name: "id", schema: uuidSchema, description: `The ${what}'s id` } }: ResourceOptions,
): DescribeRouteOptions {
  const { allow, summary, description, body, page, query = {}, answers } = options;
  const namesOne = path.includes(`:${id.name}`);
  const content = body && { "application/json": { schema: resolver(body.schema), example: body.example } };
  return {
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(allow === "publish" && { security: [{ apiKey: [] }] }),
    parameters: [
      ...(namesOne ? [parameter("path", id.name, v.pipe(id.schema, v.description(id.description)))] : []),
      ...(page === undefined ? [] : pageParameters),
      ...Object.entries(query).map((one) => parameter("query", ...one)),
      ...(allow === "publish" ? [] : [tenantParameter]),
    ],
    ...(content && { requestBody: { required: body.whenEmpty === undefined, content } }),
    responses: {
      ...refusals(400, 401, 403, 429, 503),
      ...(content && refusals(413, 415, 422)),
      ...(namesOne && what !== null && { 404: problem(`No such ${what} in this tenant`) }),
      ...answers,
    },
  };
}

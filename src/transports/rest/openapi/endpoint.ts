import type { RestBinding } from '../../../operations/define.ts';
import { longPathPrefix } from '../paths.ts';
import type { RouteDescription } from '../route.ts';
import { headersOf, type HeaderName, idempotencyKey, ifNoneMatch } from './headers.ts';
import { listErrorCodes, errorResponses } from './error-responses.ts';
import { findTag } from './tags.ts';
import type { Json, Schemas } from './schemas.ts';

/** One method at one path, with what the document tells of it. */
export interface Endpoint {
  method: RestBinding['method'];
  /** Relative to /v1. */
  path: string;
  description: RouteDescription;
}

/** The Operation Object (OpenAPI 3.1, section 4.8.10) of an endpoint. */
export function describeEndpoint({ method, path, description }: Endpoint, schemas: Schemas): Json {
  const { properties = {}, required = [], ...rest } = schemas.of(description.input, 'input');
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const rows = Object.entries(properties).filter(([name]) => !inPath.includes(name));
  const fields = { ...rest, properties: Object.fromEntries(rows), required: without(required, inPath) };
  // A path that begins so but asks for the two names itself is about any agent.
  const long = path.startsWith(longPathPrefix) && !Object.hasOwn(properties, 'owner');
  const params = inPath.map((name) =>
    parameter(
      name,
      'path',
      true,
      properties[name] ?? actingAgentParameters[name] ?? {},
      exampleOf(description, name),
    ),
  );
  const query = rows.map(([name, schema]) =>
    parameter(name, 'query', required.includes(name), schema, description.example[name]),
  );
  const header = [
    ...(description.idempotency ? [idempotencyKey(description.idempotency === 'required')] : []),
    ...(description.conditional ? [ifNoneMatch] : []),
  ];
  const names = Object.keys(properties);
  return {
    operationId: description.name,
    tags: [findTag(path)],
    summary: description.summary,
    description: describeAccess(description, long),
    security: securityOf(description),
    parameters: [...params, ...(method === 'GET' ? query : []), ...header],
    ...(method !== 'GET' && rows.length > 0 && { requestBody: bodyOf(fields, inPath, description) }),
    responses: {
      [description.status]: successOf(description, names, schemas),
      ...(description.conditional && { 304: notModified }),
      ...errorResponses(listErrorCodes(method, long, description, names)),
    },
  };
}

const without = (names: readonly string[], left: readonly string[]): string[] =>
  names.filter((name) => !left.includes(name));

/** The parameters of the long form, which the operation itself does not know. */
const actingAgentParameters: Record<string, Json> = {
  owner: { type: 'string', description: 'Owner of the agent that the token acts as.' },
  agent_name: { type: 'string', description: 'Name of the agent that the token acts as.' },
};

function exampleOf({ example }: RouteDescription, name: string): unknown {
  const own = new Map<string, unknown>([
    ['owner', 'acme'],
    ['agent_name', 'planner'],
    ...Object.entries(example),
  ]);
  return own.get(name);
}

function parameter(name: string, place: string, required: boolean, schema: Json, example: unknown): Json {
  const { description, ...type } = schema;
  return {
    name,
    in: place,
    required,
    description,
    schema: type,
    ...(example !== undefined && { example }),
  };
}

function describeAccess({ scopes, description, anonymous }: RouteDescription, long: boolean): string {
  const [first, ...others] = scopes.map((scope) => `\`${scope}\``);
  const scope =
    others.length > 0
      ? `Any one of these scopes will do: ${[first, ...others].join(', ')}.`
      : first
        ? `Needs the scope ${first}.`
        : 'Every valid token will do.';
  const token = anonymous ? `${scope} Without a token you get what is for everybody.` : scope;
  const form = long ? ['The path must name the agent that the token acts as.'] : [];
  return [...(description ? [description] : []), ...form, token].join('\n\n');
}

function securityOf({ scopes, anonymous }: RouteDescription): Json[] {
  const ways = scopes.length > 0 ? scopes.map((scope) => ({ oauth: [scope] })) : [{ oauth: [] }];
  return anonymous ? [{}, ...ways] : ways;
}

function bodyOf(
  schema: Json,
  inPath: readonly string[],
  { input, example, body_type = 'application/json' }: RouteDescription,
): Json {
  const given = Object.entries(example);
  const onlyPath = Object.fromEntries(given.filter(([name]) => inPath.includes(name)));
  const body = Object.fromEntries(given.filter(([name]) => !inPath.includes(name)));
  return {
    required: !input.safeParse(onlyPath).success,
    content: { [body_type]: { schema, example: body } },
  };
}

const notModified = { description: 'You have it already.', headers: headersOf(['ETag']) };

function successOf(
  { summary, idempotency, location, conditional, content }: RouteDescription,
  names: readonly string[],
  schemas: Schemas,
): Json {
  const always: HeaderName[] = [
    ...(location ? (['Location'] as const) : []),
    ...(conditional ? (['ETag'] as const) : []),
  ];
  const maybe: HeaderName[] = [
    ...(idempotency ? (['Idempotency-Replayed'] as const) : []),
    ...(names.includes('cursor') ? (['Link'] as const) : []),
  ];
  const bodies = content.map(({ type, schema, example }) => [
    type,
    { schema: schemas.of(schema, 'output'), example },
  ]);
  return {
    description: summary,
    headers: headersOf(always, maybe),
    ...(bodies.length > 0 && { content: Object.fromEntries(bodies) as Json }),
  };
}

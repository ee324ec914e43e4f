import type { ErrorCode } from '../../../../packages/core/src/domain/errors.ts';
import type { RestBinding } from '../../../operations/define.ts';
import { longPathPrefix, type RouteDescription } from '../route.ts';
import { headersOf, type HeaderName, idempotencyKey, ifNoneMatch } from './headers.ts';
import { listErrorCodes } from './error-responses.ts';
import { findTag } from './tags.ts';
import type { Json, Schemas } from './schemas.ts';

/** A method of a path, with its description. */
export interface Endpoint {
  method: RestBinding['method'];
  /** Relative to /v1. */
  path: string;
  description: RouteDescription;
}

/** All error codes of an endpoint. */
export function errorCodesOf(endpoint: Endpoint, schemas: Schemas): ErrorCode[] {
  const { properties = {} } = schemas.of(endpoint.description.input, 'input');
  const { method, path, description } = endpoint;
  return listErrorCodes(method, isLongPath(path, properties), description, Object.keys(properties));
}

/** Whether the path must name the acting agent. If the operation has a field `owner`, its path is about any agent. */
const isLongPath = (path: string, properties: object): boolean =>
  path.startsWith(longPathPrefix) && !Object.hasOwn(properties, 'owner');

/** The Operation Object (OpenAPI 3.1, section 4.8.10) of an endpoint. @param errors its error responses, by status */
export function describeEndpoint(endpoint: Endpoint, schemas: Schemas, errors: Json): Json {
  const { method, path, description } = endpoint;
  const { properties = {}, required = [], ...rest } = schemas.of(description.input, 'input');
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const fields = Object.entries(properties).filter(([name]) => !inPath.includes(name));
  const bodySchema = {
    ...rest,
    properties: Object.fromEntries(fields),
    required: without(required, inPath),
  };
  const params = inPath.map((name) =>
    parameter(
      name,
      'path',
      true,
      properties[name] ?? actingAgentParameters[name] ?? {},
      exampleOf(description, name),
    ),
  );
  const query = fields.map(([name, schema]) =>
    parameter(name, 'query', required.includes(name), schema, description.example[name]),
  );
  const header = [
    ...(description.idempotency ? [idempotencyKey(description.idempotency === 'required')] : []),
    ...(description.conditional ? [ifNoneMatch] : []),
  ];
  return {
    operationId: description.name,
    tags: [findTag(path)],
    summary: description.summary,
    description: describeAccess(description, isLongPath(path, properties)),
    security: securityOf(description),
    parameters: [...params, ...(method === 'GET' ? query : []), ...header],
    ...(method !== 'GET' &&
      fields.length > 0 && { requestBody: describeBody(bodySchema, inPath, description) }),
    responses: {
      [description.status]: describeSuccess(description, Object.keys(properties), schemas),
      ...(description.conditional && { 304: notModified }),
      ...errors,
    },
  };
}

const without = (names: readonly string[], excluded: readonly string[]): string[] =>
  names.filter((name) => !excluded.includes(name));

/** The parameters of the long form, which are not in the input of the operation. */
const actingAgentParameters: Record<string, Json> = {
  owner: { type: 'string', description: 'Owner of the agent that the token acts as.' },
  agent_name: { type: 'string', description: 'Name of the agent that the token acts as.' },
};

function exampleOf({ example }: RouteDescription, name: string): unknown {
  const examples = new Map<string, unknown>([
    ['owner', 'acme'],
    ['agent_name', 'planner'],
    ...Object.entries(example),
  ]);
  return examples.get(name);
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

function describeAccess(route: RouteDescription, isLong: boolean): string {
  const { description, anonymous } = route;
  const sets = scopeSetsOf(route).map((set) => set.map((scope) => `\`${scope}\``).join(' and '));
  const scope = sets.length > 0 ? `the scope ${sets.join(' or ')}` : 'a valid token with any scope';
  const token = `Requires ${scope}.${anonymous ? ' Without a token you get public data only.' : ''}`;
  const form = isLong ? ['The path must name the agent that the token acts as.'] : [];
  return [...(description ? [description] : []), ...form, token].join('\n\n');
}

/** The sets of scopes that are sufficient. */
const scopeSetsOf = ({ scopes, alsoScopes = [] }: RouteDescription) =>
  scopes.map((scope) => [scope, ...alsoScopes]);

function securityOf(route: RouteDescription): Json[] {
  const sets: readonly string[][] = route.scopes.length > 0 ? scopeSetsOf(route) : [[]];
  return [...(route.anonymous ? [{}] : []), ...sets.map((bearer) => ({ bearer }))];
}

function describeBody(
  schema: Json,
  inPath: readonly string[],
  { input, example, body_type = 'application/json' }: RouteDescription,
): Json {
  const entries = Object.entries(example);
  const onlyPath = Object.fromEntries(entries.filter(([name]) => inPath.includes(name)));
  const body = Object.fromEntries(entries.filter(([name]) => !inPath.includes(name)));
  return {
    required: !input.safeParse(onlyPath).success,
    content: { [body_type]: { schema, example: body } },
  };
}

const notModified = {
  description: 'Not modified since the response with this ETag.',
  headers: headersOf(['ETag']),
};

function describeSuccess(
  { summary, idempotency, location, conditional, content }: RouteDescription,
  names: readonly string[],
  schemas: Schemas,
): Json {
  const always: HeaderName[] = [
    ...(location ? (['Location'] as const) : []),
    ...(conditional ? (['ETag'] as const) : []),
  ];
  const optional: HeaderName[] = [
    ...(idempotency ? (['Idempotency-Replayed'] as const) : []),
    ...(names.includes('cursor') ? (['Link'] as const) : []),
  ];
  const bodies = content.map(({ type, schema, example }) => [
    type,
    { schema: schemas.of(schema, 'output'), example },
  ]);
  return {
    description: summary,
    headers: headersOf(always, optional),
    ...(bodies.length > 0 && { content: Object.fromEntries(bodies) as Json }),
  };
}

import { z } from 'zod';
import { errorStatuses } from '../domain/errors.ts';
import { scopes } from '../domain/scopes.ts';
import type { Operation, RestFace } from '../operations/define.ts';
import { acknowledgement, eventsAnswer, eventsQuery } from './events.ts';
import { longForm, pathsOf } from './paths.ts';

type Json = Record<string, unknown>;

interface ObjectSchema extends Json {
  properties?: Record<string, Json>;
  required?: string[];
}

export interface OpenApiParts {
  catalogue: readonly Operation[];
  base_url: string;
  public_url: string;
  version: string;
}

/** The REST interface as OpenAPI 3.1, from the very schemas that validate. */
export function openApiDocument({ catalogue, base_url, public_url, version }: OpenApiParts): Json {
  const components: Record<string, Json> = {};
  const schemaOf = (schema: z.ZodType, io: 'input' | 'output') => collect(components, schema, io);
  const paths: Record<string, Json> = {};
  for (const operation of catalogue) {
    if (!operation.rest) continue;
    for (const path of pathsOf(operation.rest)) {
      const described = describeOperation(operation, operation.rest, path, schemaOf);
      paths[path] = { ...paths[path], [operation.rest.method.toLowerCase()]: described };
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Agent Messaging Service', version, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: base_url }],
    security: [{ oauth: [] }],
    paths: { ...paths, ...eventPaths(schemaOf) },
    components: {
      schemas: { ...components, Error: errorSchema },
      securitySchemes: { oauth: securityScheme(public_url) },
    },
  };
}

function describeOperation(
  operation: Operation,
  rest: RestFace,
  path: string,
  schemaOf: (schema: z.ZodType, io: 'input' | 'output') => Json,
): Json {
  const { properties = {}, required = [], ...input }: ObjectSchema = schemaOf(operation.input, 'input');
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const parameters = inPath.map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: properties[name] ?? { type: 'string' },
  }));
  const rows = Object.entries(properties).filter(([name]) => !inPath.includes(name));
  const isRead = rest.method === 'GET';
  const query = rows.map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
  const key = {
    name: 'Idempotency-Key',
    in: 'header',
    required: rest.idempotency === 'required',
    schema: idempotencyKey,
  };
  const body = {
    ...input,
    properties: Object.fromEntries(rows),
    required: required.filter((name) => !inPath.includes(name)),
  };
  const long = path.startsWith(longForm);
  return {
    operationId: long ? `${operation.name}_as` : operation.name,
    summary: operation.summary,
    security: [{ oauth: operation.scope === 'any' ? [] : [operation.scope] }],
    parameters: [...parameters, ...(isRead ? query : []), ...(rest.idempotency ? [key] : [])],
    ...(!isRead && { requestBody: { required: true, content: jsonOf(body) } }),
    responses: {
      [rest.status]: {
        description: operation.summary,
        ...(rest.status !== 204 && { content: jsonOf(schemaOf(operation.output, 'output')) }),
      },
      default: errorResponse,
    },
  };
}

function eventPaths(schemaOf: (schema: z.ZodType, io: 'input' | 'output') => Json): Record<string, Json> {
  const { properties = {} }: ObjectSchema = schemaOf(eventsQuery, 'input');
  const parameters = Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema,
  }));
  const page = { description: 'A page of events', content: jsonOf(schemaOf(eventsAnswer, 'output')) };
  const requestBody = { required: true, content: jsonOf(schemaOf(acknowledgement, 'input')) };
  return {
    '/events': {
      get: {
        operationId: 'list_events',
        summary: 'Read your feed, or wait for it',
        parameters,
        responses: { 200: page, default: errorResponse },
      },
    },
    '/events/ack': {
      post: {
        operationId: 'acknowledge_events',
        summary: 'Keep a position in your feed for good',
        requestBody,
        responses: { 204: { description: 'Kept' }, default: errorResponse },
      },
    },
  };
}

const jsonOf = (schema: Json): Json => ({ 'application/json': { schema } });

const idempotencyKey = { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' };

const errorResponse = { description: 'An error', content: jsonOf({ $ref: '#/components/schemas/Error' }) };

const errorSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'request_id'],
      properties: {
        code: { enum: Object.keys(errorStatuses) },
        message: { type: 'string' },
        request_id: { type: 'string' },
        details: {
          type: 'array',
          items: { type: 'object', properties: { field: { type: 'string' }, message: { type: 'string' } } },
        },
      },
    },
  },
};

function securityScheme(public_url: string): Json {
  const granted = Object.fromEntries(scopes.map((scope) => [scope, scope]));
  return {
    type: 'oauth2',
    flows: { clientCredentials: { tokenUrl: `${public_url}/token`, scopes: granted } },
  };
}

/** A schema whose named parts go to the components. */
function collect(components: Record<string, Json>, schema: z.ZodType, io: 'input' | 'output'): Json {
  const made = z.toJSONSchema(schema, { io, unrepresentable: 'any', target: 'draft-2020-12' });
  const {
    $schema: _dialect,
    $defs = {},
    ...own
  }: Json = JSON.parse(JSON.stringify(made).replaceAll('"#/$defs/', '"#/components/schemas/'));
  Object.assign(components, $defs);
  if (typeof own['id'] !== 'string') return own;
  const { id, ...named } = own;
  components[id] = named;
  return { $ref: `#/components/schemas/${id}` };
}

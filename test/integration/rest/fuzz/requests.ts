import fc, { type Arbitrary } from 'fast-check';
import type { OpenApiDocument, OperationObject, Schema } from '../../../support/openapi/document.ts';
import {
  type BodyCorruption,
  arbitraryBodyCorruption,
  hostileHeaders,
  hostilePath,
  hostileQuery,
} from './hostile-requests.ts';
import { validValue, hostileName, hostileValue, type JsonText, presence } from './values.ts';

export interface Endpoint {
  method: string;
  path: string;
  operation: OperationObject;
}

/** A generated request. Existing resources are placeholders, `{{kind:number}}`, until it is sent. */
export interface RequestDraft {
  operation: string;
  agentIndex: number;
  method: string;
  /** Includes the query. */
  path: string;
  headers: [string, string][];
  /** Fields of the body, in order; a name can be repeated. Null: no body. */
  body: [name: string, value: JsonText][] | null;
  /** The content of a file to send as the body instead. */
  file: string | null;
  corruption: BodyCorruption | null;
}

export function listEndpoints({ paths }: OpenApiDocument): Endpoint[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

interface Field {
  name: string;
  in: 'path' | 'query' | 'body';
  required: boolean;
  schema: Schema;
}

function listFields({ operation }: Endpoint): Field[] {
  const parameters = operation.parameters.flatMap(({ name, in: place, required, schema }) =>
    place === 'header' ? [] : [{ name, in: place, required, schema }],
  );
  const body = operation.requestBody?.content['application/json']?.schema ?? {};
  const properties = Object.entries((body['properties'] ?? {}) as Record<string, Schema>);
  const required = (body['required'] ?? []) as string[];
  return [
    ...parameters,
    ...properties.map(([name, schema]) => ({
      name,
      in: 'body' as const,
      required: required.includes(name),
      schema,
    })),
  ];
}

type Values = Map<string, JsonText>;

/** Inputs that an operation should accept. */
function validInput(endpoint: Endpoint): Arbitrary<Values> {
  const { operationId } = endpoint.operation;
  const fields = listFields(endpoint);
  const drawn = fields.map(({ name, required, schema }) => {
    const value = validValue(operationId, name, schema);
    if (required) return value;
    return fc
      .integer({ min: 0, max: 99 })
      .chain((luck) => (luck < presence(name) * 100 ? value : fc.constant(null)));
  });
  return fc.tuple(...drawn).map((values) => {
    const input = new Map<string, JsonText>();
    for (const [index, value] of values.entries()) {
      if (value !== null) input.set(fields[index]?.name ?? '', value);
    }
    return choose(input);
  });
}

/** Removes fields that exclude each other and adds missing ones. */
function choose(input: Values): Values {
  if (input.has('participants')) input.delete('with_handle');
  return input;
}

/** The same with one field wrong: another value, an unknown name, or none at all. */
function almostValidInput(endpoint: Endpoint): Arbitrary<[Values, [string, JsonText][]]> {
  const names = listFields(endpoint).map(({ name }) => name);
  const wrong = fc.oneof(
    { weight: names.length > 0 ? 6 : 0, arbitrary: fc.tuple(fc.constantFrom('', ...names), hostileValue) },
    { weight: 1, arbitrary: fc.tuple(hostileName, hostileValue) },
  );
  return fc
    .tuple(validInput(endpoint), wrong, fc.integer({ min: 0, max: 9 }))
    .map(([input, [name, value], how]) => {
      if (how === 0) input.delete(name);
      else if (how === 1) return [input, [[name, value]]];
      else input.set(name, value);
      return [input, []];
    });
}

function buildDraft(
  endpoint: Endpoint,
  agentIndex: number,
  input: Values,
  extra: [string, JsonText][],
): RequestDraft {
  const { operation, method } = endpoint;
  const fields = new Map(listFields(endpoint).map((field) => [field.name, field]));
  const entries = [...input];
  const placed = (place: Field['in']) => entries.filter(([name]) => fields.get(name)?.in === place);
  const params = new Map(placed('path'));
  const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encoded(params.get(name) ?? '""'));
  const others = [...entries.filter(([name]) => fields.get(name)?.in !== 'path'), ...extra];
  const query = others.map(([name, value]) => `${encoded(JSON.stringify(name))}=${encoded(value)}`).join('&');
  const key = operation.parameters.find(({ name }) => name === 'Idempotency-Key');
  const isRead = method === 'GET';
  return {
    operation: operation.operationId,
    agentIndex,
    method,
    path: isRead && query ? `${path}?${query}` : path,
    // Some keys are repeated, with the same request or with another one.
    headers: key?.required
      ? [['Idempotency-Key', agentIndex % 8 === 0 ? `again-${agentIndex % 5}` : '{{fresh:0}}']]
      : [],
    body: isRead || others.length === 0 ? null : others,
    file: operation.requestBody?.content['multipart/form-data'] ? `file ${agentIndex % 9}` : null,
    corruption: null,
  };
}

/** Text encoded for a URL; placeholders stay unchanged. */
function encoded(value: JsonText): string {
  const parsed: unknown = JSON.parse(value);
  const plain = typeof parsed === 'string' ? parsed : value;
  return plain
    .split(/(\{\{\w+:\d+\}\})/)
    .map((part, index) => (index % 2 ? part : encodeURIComponent(part.toWellFormed())))
    .join('');
}

/** Valid requests to one endpoint. */
export function validRequest(endpoint: Endpoint): Arbitrary<RequestDraft> {
  return fc
    .tuple(fc.nat(999), validInput(endpoint))
    .map(([resident, input]) => buildDraft(endpoint, resident, input, []));
}

/** Requests of every kind to every endpoint, from valid to hostile. */
export function arbitraryRequest(endpoints: readonly Endpoint[]): Arbitrary<RequestDraft> {
  const of = (endpoint: Endpoint): Arbitrary<RequestDraft> => {
    const good = validRequest(endpoint);
    const nearly = fc
      .tuple(fc.nat(999), almostValidInput(endpoint))
      .map(([resident, [input, extra]]) => buildDraft(endpoint, resident, input, extra));
    const base = fc.oneof(good, nearly);
    return fc.oneof(
      { weight: 35, arbitrary: good },
      { weight: 30, arbitrary: nearly },
      {
        weight: 9,
        arbitrary: fc.tuple(base, hostilePath).map(([one, corrupt]) => ({ ...one, path: corrupt(one.path) })),
      },
      {
        weight: 9,
        arbitrary: fc
          .tuple(base, hostileQuery)
          .map(([one, corrupt]) => ({ ...one, path: corrupt(one.path) })),
      },
      {
        weight: 9,
        arbitrary: fc
          .tuple(base, hostileHeaders)
          .map(([one, headers]) => ({ ...one, headers: [...one.headers, ...headers] })),
      },
      {
        weight: 6,
        arbitrary: fc
          .tuple(base, arbitraryBodyCorruption)
          .map(([one, corruption]) => ({ ...one, corruption })),
      },
      {
        weight: 2,
        arbitrary: fc
          .tuple(
            base,
            fc.constantFrom('PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'POST', 'GET', 'PROPFIND'),
          )
          // With headers that are too long, the parser does not know yet that HEAD has no body.
          .map(([one, method]) => ({ ...one, method, path: one.path.slice(0, 4_000) })),
      },
    );
  };
  return fc.oneof(...endpoints.map(of));
}

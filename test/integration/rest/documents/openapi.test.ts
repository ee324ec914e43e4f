import { beforeAll, expect, test } from 'vitest';
import { errorStatuses } from '../../../../packages/core/src/domain/errors.ts';
import { scopes } from '../../../../packages/core/src/domain/auth/scopes.ts';
import { catalogue } from '../../../../src/operations/catalogue.ts';
import { requireScope } from '../../../../src/operations/execute/authorize-scope.ts';
import { longPathPrefix, pathsOf } from '../../../../src/transports/rest/route.ts';
import {
  findByPointer,
  type OpenApiDocument,
  type OperationObject,
  type ResponseObject,
  resolveReference,
  escapePointer,
} from '../../../support/openapi/document.ts';
import { forbidUnknownFields, createSchemaChecks } from '../../../support/openapi/schema-checks.ts';
import { fetchMergedDocument, fetchServedDocument } from '../../../support/openapi/served-document.ts';
import { requestRest } from '../../../clients/rest.ts';
import { useSharedService } from '../../../support/service.ts';

const service = useSharedService();
let document: OpenApiDocument;
let operations: { path: string; method: string; pointer: string; operation: OperationObject }[];

beforeAll(async () => {
  document = await fetchMergedDocument(service.url);
  operations = listOperations(document);
});

const listOperations = ({ paths }: OpenApiDocument) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method,
      pointer: `#/paths/${escapePointer(path)}/${method}`,
      operation,
    })),
  );

/** Every part of the document with its pointer. */
function* partsOf(value: unknown, pointer = '#'): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [pointer, value as Record<string, unknown>];
  for (const [key, child] of Object.entries(value)) yield* partsOf(child, `${pointer}/${escapePointer(key)}`);
}

const repeated = (values: readonly string[]): string[] =>
  values.filter((value, index) => values.indexOf(value) !== index);

test.each(['openapi.json', 'openapi-long-paths.json'])('%s is served by GET and HEAD', async (name) => {
  const head = await requestRest('HEAD', `${service.api}/${name}`);
  expect([head.status, head.text]).toEqual([200, '']);
  expect(head.headers.get('content-type')).toMatch(/^application\/json/);
  expect(document.openapi).toBe('3.1.0');
});

test('the main document has each operation once, and links the document of the long paths', async () => {
  const [main, long] = await Promise.all([
    fetchServedDocument(service.url, '/v1/openapi.json'),
    fetchServedDocument(service.url, '/v1/openapi-long-paths.json'),
  ]);
  const [ids, longIds] = [main, long].map((one) =>
    listOperations(one).map(({ operation }) => operation.operationId),
  ) as [string[], string[]];
  expect(ids.filter((id) => !/^[a-z]+(?:_[a-z]+)+$/.test(id) || id.endsWith('_as'))).toEqual([]);
  expect([...repeated(ids), ...repeated(longIds)]).toEqual([]);
  expect(longIds.filter((id) => !ids.includes(id))).toEqual([]);
  expect(longIds).toContain('create_thread');
  expect(Object.keys(long.paths).filter((path) => !path.startsWith(longPathPrefix))).toEqual([]);
  expect(main).toHaveProperty('info.description', expect.stringContaining('/v1/openapi-long-paths.json)'));
  expect(long).toHaveProperty('info.description', expect.stringContaining('/v1/openapi.json)'));
});

test('an error response that several operations have is described once', async () => {
  for (const path of ['/v1/openapi.json', '/v1/openapi-long-paths.json'] as const) {
    const served = await fetchServedDocument(service.url, path);
    const inline = listOperations(served).flatMap(({ operation }) =>
      Object.entries(operation.responses).flatMap(([status, response]) =>
        status >= '400' && !('$ref' in response) ? [JSON.stringify(response)] : [],
      ),
    );
    expect(repeated(inline)).toEqual([]);
  }
});

test('has every operation in each of its forms, with unique names', () => {
  const missing = catalogue.flatMap(({ rest: face }) =>
    face ? pathsOf(face).filter((path) => !document.paths[path]?.[face.method.toLowerCase()]) : [],
  );
  expect(missing).toEqual([]);
  expect(repeated(operations.map(({ operation }) => operation.operationId))).toEqual([]);
});

/** Field names of OpenAPI 3.1, section 4.8, for the fields in use. */
const fieldsOf = {
  document: ['openapi', 'info', 'externalDocs', 'servers', 'security', 'tags', 'paths', 'components'],
  operation: [
    'operationId',
    'tags',
    'summary',
    'description',
    'security',
    'parameters',
    'requestBody',
    'responses',
  ],
  parameter: ['name', 'in', 'required', 'description', 'schema', 'example'],
  response: ['description', 'headers', 'content'],
  header: ['description', 'required', 'schema', 'example'],
  content: ['schema', 'example', 'examples'],
};

function foreign(kind: keyof typeof fieldsOf, value: object): string[] {
  return Object.keys(value).filter((name) => !fieldsOf[kind].includes(name));
}

test('has the structure of OpenAPI 3.1', () => {
  expect(foreign('document', document)).toEqual([]);
  for (const { path, method, pointer, operation } of operations) {
    expect(path, pointer).toMatch(/^\/[\w{}/.:-]+$/);
    expect(['get', 'post', 'put', 'patch', 'delete'], pointer).toContain(method);
    expect(foreign('operation', operation), pointer).toEqual([]);
    const inPath = operation.parameters.filter((parameter) => parameter.in === 'path');
    expect(inPath.map(({ name }) => name)).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    expect(inPath.filter(({ required }) => !required)).toEqual([]);
    expect(repeated(operation.parameters.map(({ name, in: place }) => `${place} ${name}`))).toEqual([]);
    for (const parameter of operation.parameters) expect(foreign('parameter', parameter)).toEqual([]);
    for (const [status, given] of Object.entries(operation.responses)) {
      const response = resolveReference<ResponseObject>(document, given);
      expect(status, pointer).toMatch(/^[2345]\d\d$/);
      expect(foreign('response', response), pointer).toEqual([]);
      expect(response.description, pointer).not.toBe('');
      for (const header of Object.values(response.headers))
        expect(foreign('header', resolveReference(document, header))).toEqual([]);
      for (const body of Object.values(response.content ?? {})) expect(foreign('content', body)).toEqual([]);
    }
    expect(
      Object.keys(operation.responses).filter(
        (status) => (status !== '202' && status < '300') || status === '302',
      ),
    ).toHaveLength(1);
  }
});

test('only long forms mention the acting agent', () => {
  const about = (path: string) =>
    document.paths[path]?.['get'] as { description: string; security: object[] };
  const card = about('/agents/{owner}/{agent_name}/card');
  expect(card.description).not.toContain('the token acts as');
  expect(card.security).toEqual([{}, ...about('/agents/{owner}/{agent_name}').security]);
  expect(about('/agents/{owner}/{agent_name}/threads').description).toContain('the token acts as');
});

test('every reference can be resolved', () => {
  const refs = [...partsOf(document)].flatMap(([, { $ref }]) => (typeof $ref === 'string' ? [$ref] : []));
  expect(refs.length).toBeGreaterThan(100);
  for (const ref of refs) findByPointer(document, ref);
  expect(() => findByPointer(document, '#/components/schemas/Absent')).toThrow('leads nowhere');
});

test('every tag and every scope is declared', () => {
  const { tags } = document as unknown as { tags: { name: string; description: string }[] };
  const declared = tags.map(({ name }) => name);
  expect(new Set(operations.flatMap(({ operation }) => operation.tags))).toEqual(new Set(declared));
  const { flows } = findByPointer(document, '#/components/securitySchemes/bearer') as {
    flows: Record<string, { scopes: object }>;
  };
  for (const flow of Object.values(flows))
    expect(Object.keys(flow.scopes).sort()).toEqual([...scopes].sort());
  const needed = operations.flatMap(({ operation }) =>
    operation.security.flatMap((way) => way['bearer'] ?? []),
  );
  expect(needed.filter((scope) => !(scopes as readonly string[]).includes(scope))).toEqual([]);
});

test('the documented scopes are sufficient for every operation', () => {
  const check = () => {
    for (const operation of catalogue) {
      const documented = operations.find(({ operation: { operationId } }) => operationId === operation.name);
      for (const { bearer = [] } of documented?.operation.security ?? []) {
        if (bearer.length > 0) requireScope(operation, { scopes: new Set(bearer) });
      }
    }
  };
  expect(check).not.toThrow();
});

test('what opens a feed documents the scope of watch=owner', () => {
  for (const name of ['list_events', 'create_stream_ticket']) {
    const documented = operations.find(({ operation: { operationId } }) => operationId === name);
    expect(documented?.operation.security).toContainEqual({ bearer: ['conversations:read'] });
  }
});

test('every operation documents its errors under the correct status', () => {
  for (const { pointer, operation } of operations) {
    expect(operation.responses, pointer).toHaveProperty('401');
    expect(operation.responses, pointer).toHaveProperty('429');
    for (const [status, given] of Object.entries(operation.responses)) {
      if (status < '400') continue;
      const examples =
        resolveReference<ResponseObject>(document, given).content?.['application/json']?.examples ?? {};
      const codes = Object.keys(examples) as (keyof typeof errorStatuses)[];
      expect(codes.length, `${pointer} ${status}`).toBeGreaterThan(0);
      expect(codes.filter((code) => errorStatuses[code] !== Number(status))).toEqual([]);
    }
  }
});

test('every schema compiles, and every example is valid', () => {
  const strict = {
    ...document,
    paths: forbidUnknownFields(document.paths),
    components: forbidUnknownFields(document.components),
  };
  const compile = createSchemaChecks(strict);
  let examples = 0;
  function hold(pointer: string, value: unknown): void {
    examples += 1;
    expect(compile(pointer)(value), pointer).toBeNull();
  }
  for (const [pointer, part] of partsOf(document)) {
    if (!('schema' in part)) continue;
    compile(`${pointer}/schema`);
    if ('example' in part) hold(`${pointer}/schema`, part['example']);
    for (const example of Object.values((part['examples'] ?? {}) as Record<string, { $ref: string }>)) {
      hold(`${pointer}/schema`, (findByPointer(document, example.$ref) as { value: unknown }).value);
    }
  }
  expect(examples).toBeGreaterThan(operations.length * 3);
});

test('every request and response body has an example', () => {
  for (const { pointer, operation } of operations) {
    const bodies = [operation.requestBody, ...Object.values(operation.responses)].flatMap((given) =>
      given
        ? Object.values(resolveReference<ResponseObject>(document, given as ResponseObject).content ?? {})
        : [],
    );
    for (const body of bodies) expect('example' in body || 'examples' in body, pointer).toBe(true);
  }
});

test('every operation, parameter, header and field is described', () => {
  const undescribed = [...partsOf(document)].flatMap(([pointer, part]) => {
    const described = typeof part['description'] === 'string' && part['description'] !== '';
    const isField = /\/properties\/[^/]+$/.test(pointer) && !/\/allOf\//.test(pointer);
    const mustBe = isField || ('in' in part && 'name' in part) || 'operationId' in part;
    return mustBe && !described && !describedElsewhere(part) ? [pointer] : [];
  });
  expect(undescribed).toEqual([]);
});

/** Whether the named schema of the field has a description. */
function describedElsewhere({ $ref, items }: Record<string, unknown>): boolean {
  const ref = $ref ?? (items as { $ref?: string } | undefined)?.$ref;
  if (typeof ref !== 'string') return false;
  const { description } = findByPointer(document, ref) as { description?: string };
  return description !== undefined;
}

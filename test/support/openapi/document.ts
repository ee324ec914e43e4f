/** The parts of an OpenAPI 3.1 document that tests read. */
export interface OpenApiDocument {
  openapi: string;
  paths: Record<string, Record<string, OperationObject>>;
  components: Record<string, Record<string, object>>;
}

export interface OperationObject {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security: Record<string, string[]>[];
  parameters: ParameterObject[];
  requestBody?: { required: boolean; content: Record<string, MediaType> };
  responses: Record<string, ResponseObject | Reference>;
}

export interface ParameterObject {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: Schema;
  example?: unknown;
}

export interface ResponseObject {
  description: string;
  headers: Record<string, HeaderObject | Reference>;
  content?: Record<string, MediaType>;
}

export interface HeaderObject {
  required?: boolean;
  schema: Schema;
}

export interface MediaType {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, Reference>;
}

export interface Reference {
  $ref: string;
}

export type Schema = Record<string, unknown>;

/**
 * Both documents of a service as one. An operation on a long path gets `_as` after its id, so that tests can tell the paths apart.
 * @throws {Error} when the documents describe the same path, or a component differently.
 */
export function mergeDocuments(short: OpenApiDocument, long: OpenApiDocument): OpenApiDocument {
  const longPaths = Object.entries(long.paths).map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(methods).map(([method, operation]) => [
        method,
        { ...operation, operationId: `${operation.operationId}_as` },
      ]),
    ),
  ]);
  const kinds = Object.keys(short.components).map((kind) => [
    kind,
    mergeParts(short.components[kind] ?? {}, long.components[kind] ?? {}),
  ]);
  return {
    ...short,
    paths: mergeParts(short.paths, Object.fromEntries(longPaths)),
    components: Object.fromEntries(kinds),
  };
}

function mergeParts<T extends Record<string, object>>(one: T, other: T): T {
  const different = Object.keys(one).filter(
    (name) => name in other && JSON.stringify(one[name]) !== JSON.stringify(other[name]),
  );
  if (different.length > 0) throw new Error(`the documents differ: ${different.join(', ')}`);
  return { ...one, ...other };
}

/** What `value` stands for: itself, or what it refers to within the document. */
export function resolveReference<T extends object>(document: object, value: T | Reference): T {
  return '$ref' in value && typeof value.$ref === 'string'
    ? (findByPointer(document, value.$ref) as T)
    : (value as T);
}

/**
 * The part of the document behind a reference of the form `#/a/b`.
 * @throws {Error} when there is none.
 */
export function findByPointer(document: object, ref: string): unknown {
  let at: unknown = document;
  for (const step of ref.replace(/^#\//, '').split('/')) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    at = typeof at === 'object' && at !== null ? new Map(Object.entries(at)).get(name) : undefined;
  }
  if (at === undefined || !ref.startsWith('#/')) throw new Error(`${ref} leads nowhere`);
  return at;
}

/** One step of a JSON pointer (RFC 6901). */
export const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

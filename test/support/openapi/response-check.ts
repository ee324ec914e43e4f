import {
  type OpenApiDocument,
  type HeaderObject,
  resolveReference,
  type ResponseObject,
  escapePointer,
} from './document.ts';
import { type SchemaCheck, forbidUnknownFields, createSchemaChecks } from './schema-checks.ts';

/** One request and what came back. */
export interface HttpExchange {
  method: string;
  /** Path and query, as sent. */
  path: string;
  status: number;
  headers: { get(name: string): string | null };
  text: string;
}

export interface ResponseCheck {
  /**
   * Holds an answer to the document.
   * @returns the operationId, or null for what the document does not describe: unknown paths, and methods that a path does not have.
   * @throws {Error} that says what is not as described.
   */
  check(exchange: HttpExchange): string | null;
}

/** Under /v1, but not of the interface: it describes itself elsewhere. */
const undocumentedPaths = /^\/v1\/(?:openapi(?:-long-paths)?\.json$|asyncapi\.json$|meta$|\.well-known\/)/;

/** Whether the document should know this path. */
export function isDocumentedPath(path: string): boolean {
  const { pathname } = new URL(path, 'http://localhost');
  return pathname.startsWith('/v1/') && !undocumentedPaths.test(pathname);
}

export function createResponseCheck(document: OpenApiDocument): ResponseCheck {
  const strict = {
    ...document,
    paths: forbidUnknownFields(document.paths),
    components: forbidUnknownFields(document.components),
  };
  const compile = createSchemaChecks(strict);
  const compiled = new Map<string, SchemaCheck>();
  const find = createRouteMatcher(document);

  function fault(pointer: string, value: unknown): string | null {
    const check = compiled.get(pointer) ?? compile(pointer);
    compiled.set(pointer, check);
    return check(value);
  }

  function checkHeaders({ headers }: HttpExchange, response: ResponseObject, pointer: string): string[] {
    return Object.entries(response.headers).flatMap(([name, described]) => {
      const header = resolveReference<HeaderObject>(document, described);
      const text = headers.get(name);
      if (text === null) return header.required ? [`the header ${name} is missing`] : [];
      const value = header.schema['type'] === 'integer' ? Number(text) : text;
      const at = '$ref' in described ? described.$ref : `${pointer}/headers/${escapePointer(name)}`;
      const why = fault(`${at}/schema`, value);
      return why ? [`the header ${name} is ${JSON.stringify(text)}: ${why}`] : [];
    });
  }

  function checkBody(exchange: HttpExchange, response: ResponseObject, pointer: string): string[] {
    if (exchange.method === 'HEAD') return exchange.text ? ['there is a body'] : [];
    const { content } = response;
    if (!content) return exchange.text ? ['there is a body where none is described'] : [];
    const type = (exchange.headers.get('content-type') ?? '').split(';')[0] ?? '';
    if (!content[type]) return [`the type ${type || '(none)'} is not described`];
    const value: unknown = type === 'application/json' ? parseJson(exchange.text) : exchange.text;
    const why = fault(`${pointer}/content/${escapePointer(type)}/schema`, value);
    return why ? [`the body is not as described: ${why}`] : [];
  }

  function refusal(exchange: HttpExchange, status: number): null {
    // Headers that are too long are refused before anybody looks for the path.
    const expected = exchange.status === status || exchange.status === 413;
    const faults = expected ? [] : [`the status should be ${status}`];
    const body =
      exchange.method === 'HEAD' ? null : fault('#/components/schemas/ApiError', parseJson(exchange.text));
    failCheck(exchange, [...faults, ...(body ? [body] : [])]);
    return null;
  }

  return {
    check(exchange) {
      if (exchange.method === 'OPTIONS') return null;
      const found = find(exchange.method, exchange.path);
      if (found === 'unknown path') return refusal(exchange, 404);
      if (found === 'unknown method') return refusal(exchange, 405);
      const { operation } = found;
      const described = operation.responses[exchange.status];
      if (!described) {
        failCheck(exchange, [`${operation.operationId} has no such status`]);
        return null;
      }
      const pointer = '$ref' in described ? described.$ref : `${found.pointer}/responses/${exchange.status}`;
      const response = resolveReference<ResponseObject>(document, described);
      failCheck(exchange, [
        ...checkHeaders(exchange, response, pointer),
        ...checkBody(exchange, response, pointer),
      ]);
      return operation.operationId;
    },
  };
}

function failCheck({ method, path, status, text }: HttpExchange, faults: readonly string[]): void {
  if (faults.length === 0) return;
  const what = `${method} ${path.slice(0, 300)} answered ${status}, not as the OpenAPI document describes it:`;
  throw new Error([what, ...faults.map((fault) => `- ${fault}`), text.slice(0, 1_000)].join('\n'));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // no schema takes it
  }
}

/** Finds what a request calls: as the router does, fixed segments win over parameters. */
function createRouteMatcher({ paths }: OpenApiDocument) {
  const routes = Object.keys(paths)
    .sort((a, b) => a.split('{').length - b.split('{').length)
    .map((path) => ({
      path,
      pattern: new RegExp(`^/v1${path.replaceAll(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.')}/?$`),
    }));

  return (method: string, target: string) => {
    const pathname = target.split(/[?#]/)[0] ?? '';
    const fitting = routes.filter(({ pattern }) => pattern.test(pathname));
    if (fitting.length === 0) return 'unknown path' as const;
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
    for (const { path } of fitting) {
      const operation = paths[path]?.[verb];
      if (operation) return { operation, pointer: `#/paths/${escapePointer(path)}/${verb}` };
    }
    return 'unknown method' as const;
  };
}

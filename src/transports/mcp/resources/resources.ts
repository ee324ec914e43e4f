import type { ReadResourceResult, Resource, ResourceTemplate } from '@modelcontextprotocol/sdk/types.js';
import type { CompletionSource, Operation } from '../../../operations/define.ts';
import type { OtherResource } from '../additions.ts';
import { toOperationError, runOperation } from '../tools/run-operation.ts';
import type { Caller } from '../protocol/exchange.ts';
import { inputSchema } from '../tools/json-schemas.ts';
import { findPageField } from '../tools/fit-result.ts';
import type { McpParts } from '../parts.ts';
import { RpcError, rpcCodes } from '../protocol/errors.ts';

const json = 'application/json';

interface Readable {
  operation: Operation;
  mime_type: string;
  /** Default: JSON text. */
  contents?: OtherResource['contents'];
  /** URI template with the parameter names of the operation. */
  template: string;
  /** The input fields in a URI, or null if the URI does not match. */
  match(uri: string): Record<string, string> | null;
  page_field: string | undefined;
}

export interface ResourceMatch extends Readable {
  /** The normalized URI. */
  uri: string;
  input: Record<string, string>;
}

export interface Resources {
  /** The entries of `resources/list`. */
  resources: Resource[];
  /** The entries of `resources/templates/list`. */
  templates: ResourceTemplate[];
  /** The completion source of an argument of a listed template. */
  completion(uriTemplate: string, argument: string): CompletionSource | undefined;
  /** The resource for a URI. */
  find(uri: string): ResourceMatch | undefined;
}

/** Creates the resources of the catalogue and other resources (MCP, Resources). Called once at start. */
export function createResources(
  catalogue: readonly Operation[],
  others: readonly OtherResource[] = [],
): Resources {
  const resources: Resource[] = [];
  const templates: ResourceTemplate[] = [];
  const readables: Readable[] = [];
  const completions = new Map<string, CompletionSource>();
  const sources = [...catalogue.map((operation) => ({ operation, mime_type: json })), ...others];
  for (const { operation, ...format } of sources) {
    if (!operation.resource) continue;
    const { uri, name, description, completes } = operation.resource;
    if (completes) completions.set(publicTemplate(uri), completes);
    const entry = { name, title: operation.summary, description, mimeType: format.mime_type };
    if (uri.includes('{')) templates.push({ uriTemplate: publicTemplate(uri), ...entry });
    else resources.push({ uri, ...entry });
    const page_field = findPageField(operation, inputSchema(operation.input, false));
    readables.push({ operation, ...format, template: uri, match: createMatcher(uri), page_field });
  }

  return {
    resources,
    templates,
    completion: (uriTemplate, argument) => (argument === 'id' ? completions.get(uriTemplate) : undefined),
    find(uri) {
      // A lone surrogate cannot be percent-encoded.
      if (!uri.isWellFormed()) return undefined;
      for (const readable of readables) {
        const input = readable.match(uri);
        if (input) return { ...readable, input, uri: expandTemplate(readable.template, input) };
      }
      return undefined;
    },
  };
}

/**
 * Reads a resource (MCP, Resources: Reading Resources).
 * @throws {RpcError} -32002 if the caller sees no such resource, -32602 for an invalid URI, otherwise -32603; `data` has the REST
 * error body.
 */
export async function readResource(
  parts: McpParts,
  caller: Caller,
  resources: Resources,
  uri: string,
): Promise<ReadResourceResult> {
  const found = resources.find(uri);
  if (!found) throw resourceNotFoundError(uri);
  const { operation, input, page_field, mime_type: mimeType, contents } = found;
  try {
    const { text, value } = await runOperation(parts, caller, { operation, input, page_field });
    return { contents: [{ uri, mimeType, ...(contents?.(value) ?? { text }) }] };
  } catch (thrown) {
    throw toRpcError(parts, caller, { operation, input, thrown, data: { uri } });
  }
}

/** Converts what an operation threw to a JSON-RPC error with the REST error body as `data`. */
export function toRpcError(
  parts: McpParts,
  caller: Caller,
  {
    operation,
    input = {},
    thrown,
    data,
  }: { operation: Operation; input?: Record<string, unknown>; thrown: unknown; data?: object },
): RpcError {
  const { error, body } = toOperationError(parts, caller, { operation, args: input }, thrown);
  return new RpcError(rpcCodeFor(error.status), error.message, { data: { ...data, ...body } });
}

/** The error for a URI that matches no resource. */
export function resourceNotFoundError(uri: string): RpcError {
  return new RpcError(rpcCodes.resourceNotFound, 'Resource not found', { data: { uri: uri.toWellFormed() } });
}

function expandTemplate(template: string, input: Record<string, string>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(input[name] ?? ''));
}

function rpcCodeFor(status: number): number {
  if (status === 404) return rpcCodes.resourceNotFound;
  return status === 400 ? rpcCodes.invalidParams : rpcCodes.internalError;
}

/** The public form of a template: `{thread_id}` is published as `{id}`. */
function publicTemplate(uri: string): string {
  return uri.replace(/\{\w+_id\}/, '{id}');
}

function createMatcher(template: string): Readable['match'] {
  const pattern = template.replace(/[.?*+^$()|[\]\\]/g, '\\$&').replace(/\{(\w+)\}/g, '(?<$1>[^/?#]+)');
  const expression = new RegExp(`^${pattern}$`);
  return (uri) => {
    const match = expression.exec(uri);
    return match && Object.fromEntries(Object.entries(match.groups ?? {}).map(([k, v]) => [k, decode(v)]));
  };
}

/** Decodes a URI part. A part with invalid escapes stays unchanged. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

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
  /** Absent: as JSON text. */
  contents?: OtherResource['contents'];
  /** As the operation names it. */
  template: string;
  /** The fields of the input that a URI carries, or null when the URI is not one of this resource. */
  match(uri: string): Record<string, string> | null;
  page_field: string | undefined;
}

export interface ResourceMatch extends Readable {
  /** In its one spelling. */
  uri: string;
  input: Record<string, string>;
}

export interface Resources {
  /** As `resources/list` shows them. */
  resources: Resource[];
  /** As `resources/templates/list` shows them. */
  templates: ResourceTemplate[];
  /** What completes an argument of a template, as `resources/templates/list` shows it. */
  completion(uriTemplate: string, argument: string): CompletionSource | undefined;
  /** The resource behind a URI. */
  find(uri: string): ResourceMatch | undefined;
}

/** The resource faces of the catalogue, and other resources (MCP, Resources); made once. */
export function createResources(
  catalogue: readonly Operation[],
  others: readonly OtherResource[] = [],
): Resources {
  const resources: Resource[] = [];
  const templates: ResourceTemplate[] = [];
  const readables: Readable[] = [];
  const completions = new Map<string, CompletionSource>();
  const all = [...catalogue.map((operation) => ({ operation, mime_type: json })), ...others];
  for (const { operation, ...way } of all) {
    const face = operation.resource;
    if (!face) continue;
    const { uri, name, description, completes } = face;
    if (completes) completions.set(publicTemplate(uri), completes);
    const shown = { name, title: operation.summary, description, mimeType: way.mime_type };
    if (uri.includes('{')) templates.push({ uriTemplate: publicTemplate(uri), ...shown });
    else resources.push({ uri, ...shown });
    const page_field = findPageField(operation, inputSchema(operation.input, false));
    readables.push({ operation, ...way, template: uri, match: createMatcher(uri), page_field });
  }

  return {
    resources,
    templates,
    completion: (uriTemplate, argument) => (argument === 'id' ? completions.get(uriTemplate) : undefined),
    find(uri) {
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
 * @throws {RpcError} -32002 when there is none such for the caller, -32602 for a bad URI, -32603 else; with the error body of
 * REST as data.
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
    throw toRpcError(parts, caller, { operation, thrown, data: { uri } });
  }
}

/** What an operation threw, as a JSON-RPC error with the error body of REST as data. */
export function toRpcError(
  parts: McpParts,
  caller: Caller,
  { operation, thrown, data }: { operation: Operation; thrown: unknown; data?: object },
): RpcError {
  const { error, body } = toOperationError(parts, caller, operation, thrown);
  return new RpcError(rpcCodeFor(error.status), error.message, { data: { ...data, ...body } });
}

/** For what is no resource at all. */
export function resourceNotFoundError(uri: string): RpcError {
  return new RpcError(rpcCodes.resourceNotFound, 'Resource not found', { data: { uri } });
}

function expandTemplate(template: string, input: Record<string, string>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(input[name] ?? ''));
}

function rpcCodeFor(status: number): number {
  if (status === 404) return rpcCodes.resourceNotFound;
  return status === 400 ? rpcCodes.invalidParams : rpcCodes.internalError;
}

/** The URIs of interface.md name a single identifier just `{id}`: `{thread_id}` is shown so. */
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

/** A URI with broken escapes names what it says. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

import type { ReadResourceResult, Resource, ResourceTemplate } from '@modelcontextprotocol/sdk/types.js';
import type { Operation } from '../operations/define.ts';
import { refusalOf, run } from './call.ts';
import type { Caller } from './caller.ts';
import { inputSchema } from './json-schemas.ts';
import { pageField } from './page.ts';
import type { McpParts } from './parts.ts';
import { RpcError, rpcCodes } from './refusal.ts';

const mimeType = 'application/json';

interface Readable {
  operation: Operation;
  /** The fields of the input that a URI carries, or null when the URI is not one of this resource. */
  match(uri: string): Record<string, string> | null;
  page_field: string | undefined;
}

export interface Found extends Readable {
  input: Record<string, string>;
}

export interface Resources {
  /** As `resources/list` shows them. */
  resources: Resource[];
  /** As `resources/templates/list` shows them. */
  templates: ResourceTemplate[];
  /** The resource behind a URI. */
  find(uri: string): Found | undefined;
}

/** The resource faces of the catalogue (MCP, Resources); made once. */
export function resourcesOf(catalogue: readonly Operation[]): Resources {
  const resources: Resource[] = [];
  const templates: ResourceTemplate[] = [];
  const readables: Readable[] = [];
  for (const operation of catalogue) {
    const face = operation.resource;
    if (!face) continue;
    const { uri, name, description } = face;
    const shown = { name, title: operation.summary, description, mimeType };
    if (uri.includes('{')) templates.push({ uriTemplate: publicTemplate(uri), ...shown });
    else resources.push({ uri, ...shown });
    const page_field = pageField(operation, inputSchema(operation.input, false));
    readables.push({ operation, match: matcher(uri), page_field });
  }

  return {
    resources,
    templates,
    find(uri) {
      for (const readable of readables) {
        const input = readable.match(uri);
        if (input) return { ...readable, input };
      }
      return undefined;
    },
  };
}

/**
 * Reads a resource as JSON text (MCP, Resources: Reading Resources).
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
  if (!found) throw new RpcError(rpcCodes.resourceNotFound, 'Resource not found', { data: { uri } });
  const { operation, input, page_field } = found;
  try {
    const { text } = await run(parts, caller, { operation, input, page_field });
    return { contents: [{ uri, mimeType, text }] };
  } catch (thrown) {
    const { error, body } = refusalOf(parts, caller, operation, thrown);
    throw new RpcError(rpcCodeFor(error.status), error.message, { data: { uri, ...body } });
  }
}

function rpcCodeFor(status: number): number {
  if (status === 404) return rpcCodes.resourceNotFound;
  return status === 400 ? rpcCodes.invalidParams : rpcCodes.internalError;
}

/** The URIs of interface.md name a single identifier just `{id}`: `{thread_id}` is shown so. */
function publicTemplate(uri: string): string {
  return uri.replace(/\{\w+_id\}/, '{id}');
}

function matcher(template: string): Readable['match'] {
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

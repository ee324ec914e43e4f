import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { ReadResourceResult, Tool as ToolDefinition } from '@modelcontextprotocol/sdk/types.js';
import type { Tool } from '../tools/tools.ts';
import { viewType } from './views-extension.ts';

const uriOf = (name: string) => `ui://ams/${name}`;

/** The views of tools. */
const viewUris: Record<string, string> = {
  get_thread: uriOf('conversation'),
  ask: uriOf('conversation'),
  list_threads: uriOf('inbox'),
  send_message: uriOf('approval'),
  create_thread: uriOf('approval'),
  request_contact: uriOf('approval'),
  remove_contact: uriOf('approval'),
};

/** The documents of views. An approved message is shown in its conversation. */
const documents = new Map([
  [uriOf('conversation'), '#script/view-conversation.html'],
  [uriOf('approval'), '#script/view-conversation.html'],
  [uriOf('inbox'), '#script/view-inbox.html'],
]);

/** A tool in the list of a client that shows views. */
export function defineForViews({ definition, isForViews }: Tool): ToolDefinition {
  const { name } = definition;
  // The views know the arguments.
  if (isForViews) return { name, inputSchema: { type: 'object' }, _meta: { ui: { visibility: ['app'] } } };
  const resourceUri = viewUris[name];
  return resourceUri === undefined ? definition : { ...definition, _meta: { ui: { resourceUri } } };
}

const { resolve } = createRequire(import.meta.url);

/** Reads a view, for clients that show it; undefined if the URI is of no view. It has no data, so it is the same for everyone. */
export async function readView(uri: string): Promise<ReadResourceResult | undefined> {
  const path = documents.get(uri);
  if (path === undefined) return undefined;
  const text = await readFile(resolve(path), 'utf8');
  // Nothing may be loaded: no domain is named.
  const csp = { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] };
  return { contents: [{ uri, mimeType: viewType, text, _meta: { ui: { csp, prefersBorder: true } } }] };
}

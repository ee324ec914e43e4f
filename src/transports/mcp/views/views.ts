import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { ReadResourceResult, Tool as ToolDefinition } from '@modelcontextprotocol/sdk/types.js';
import type { Tool } from '../tools/tools.ts';
import { viewType } from './views-extension.ts';

const uriOf = (name: string) => `ui://ams/${name}`;

/** The views of tools. Each is the same document, which shows what the result has. */
const viewUris: Record<string, string> = {
  get_thread: uriOf('conversation'),
  ask: uriOf('conversation'),
};

/** A tool in the list of a client that shows views. */
export function defineForViews({ definition }: Tool): ToolDefinition {
  const resourceUri = viewUris[definition.name];
  return resourceUri === undefined ? definition : { ...definition, _meta: { ui: { resourceUri } } };
}

let document: string | undefined;

/** Reads a view, for clients that show it; undefined if the URI is of no view. It has no data, so it is the same for everyone. */
export function readView(uri: string): ReadResourceResult | undefined {
  if (!Object.values(viewUris).includes(uri)) return undefined;
  document ??= readFileSync(createRequire(import.meta.url).resolve('#script/view.html'), 'utf8');
  // Nothing may be loaded: no domain is named.
  const csp = { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] };
  return {
    contents: [{ uri, mimeType: viewType, text: document, _meta: { ui: { csp, prefersBorder: true } } }],
  };
}

import { z } from 'zod';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { onTestFinished } from 'vitest';
import { askStateless } from '../mcp/stateless-request.ts';

const viewType = 'text/html;profile=mcp-app';
const capabilities = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: [viewType] } } };

/** The revisions of MCP: with sessions, and 2026-07-28. */
export const eras = ['sessions', 'stateless'] as const;

/** Sends a request and returns its result. @throws {Error} for an error */
export type Ask = (method: string, params?: Record<string, unknown>) => Promise<Record<string, unknown>>;

/** A client that shows views. */
export async function connectViewClient(
  url: string,
  token: string,
  era: (typeof eras)[number],
): Promise<Ask> {
  if (era === 'stateless')
    return async (method, params = {}) => {
      const { result, error } = await askStateless(url, token, { method, params, capabilities });
      if (!result) throw new Error(error?.message);
      return result;
    };
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  const client = new Client({ name: 'views', version: '1' }, { capabilities });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  onTestFinished(() => client.close());
  return (method, params) => client.request({ method, params }, z.looseObject({}));
}

const toolList = z.object({
  tools: z.array(
    z.looseObject({
      name: z.string(),
      _meta: z
        .looseObject({
          ui: z.object({
            resourceUri: z.string().startsWith('ui://').optional(),
            visibility: z.array(z.enum(['model', 'app'])).optional(),
          }),
        })
        .optional(),
    }),
  ),
});

/** The tools that a client gets, with what they say about views. */
export async function listTools(ask: Ask) {
  const { tools } = toolList.parse(await ask('tools/list'));
  return new Map(tools.map((tool) => [tool.name, { ...tool, ui: tool['_meta']?.ui }]));
}

const viewResource = z.object({
  contents: z.tuple([
    z.object({
      uri: z.string(),
      mimeType: z.literal(viewType),
      text: z.string(),
      _meta: z.object({
        ui: z.object({
          csp: z.record(z.string(), z.array(z.string())),
          prefersBorder: z.boolean(),
        }),
      }),
    }),
  ]),
});

/** Reads the document of a view. */
export async function readView(ask: Ask, uri: string) {
  const { contents } = viewResource.parse(await ask('resources/read', { uri }));
  const [{ text, _meta }] = contents;
  return { text, csp: _meta.ui.csp };
}

import { z } from 'zod';

/** The extension MCP Apps: clients that declare it show results of tools as views. */
export const viewsExtension = 'io.modelcontextprotocol/ui';

/** The media type of views. */
export const viewType = 'text/html;profile=mcp-app';

const supporting = z.object({
  extensions: z.object({
    [viewsExtension]: z.object({
      mimeTypes: z.array(z.unknown()).refine((types) => types.includes(viewType)),
    }),
  }),
});

/** Whether a client shows views, by its capabilities. */
export const supportsViews = (capabilities: unknown): boolean => supporting.safeParse(capabilities).success;

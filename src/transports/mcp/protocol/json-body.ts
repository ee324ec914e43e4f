import type { Context } from 'koa';
import { McpHttpError, rpcCodes } from './errors.ts';

/** As the MCP SDK: 4 MiB for one POST, whatever it carries. */
const maxBodyBytes = 4 * 1024 * 1024;

/**
 * The JSON of a request body, not yet looked at.
 * @throws {McpHttpError} 415 for another media type, 413 over 4 MiB, 400 when it is not JSON in UTF-8 or was cut off.
 */
export async function readJsonBody(ctx: Context): Promise<unknown> {
  const encoding = ctx.get('Content-Encoding') || 'identity';
  if (ctx.request.type !== 'application/json' || encoding !== 'identity') {
    throw new McpHttpError(415, rpcCodes.serverError, 'Unsupported Media Type: send plain application/json.');
  }
  const bytes = await readBytes(ctx);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new McpHttpError(400, rpcCodes.parseError, 'Parse error: the body is not JSON in UTF-8.');
  }
}

async function readBytes(ctx: Context): Promise<Buffer> {
  if ((ctx.request.length ?? 0) > maxBodyBytes) throw tooLarge(ctx);
  const chunks: Buffer[] = [];
  let received = 0;
  try {
    for await (const chunk of ctx.req.iterator({ destroyOnReturn: false })) {
      received += chunk.length;
      if (received > maxBodyBytes) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw new McpHttpError(400, rpcCodes.parseError, 'Parse error: the body was cut off.', { cause: error });
  }
  if (received > maxBodyBytes) throw tooLarge(ctx);
  return Buffer.concat(chunks);
}

/** What still arrives is thrown away, so that the caller gets to read the answer. */
function tooLarge(ctx: Context): McpHttpError {
  ctx.req.resume();
  return new McpHttpError(413, rpcCodes.serverError, 'Payload Too Large: a request may have at most 4 MiB.');
}

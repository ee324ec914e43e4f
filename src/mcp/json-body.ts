import type { Context } from 'koa';
import { Refusal, rpcCodes } from './refusal.ts';

/** As the MCP SDK: 4 MiB for one POST, whatever it carries. */
const maximumBytes = 4 * 1024 * 1024;

/**
 * The JSON of a request body, not yet looked at.
 * @throws {Refusal} 415 for another media type, 413 over 4 MiB, 400 when it is not JSON in UTF-8 or was cut off.
 */
export async function readJsonBody(ctx: Context): Promise<unknown> {
  const encoding = ctx.get('Content-Encoding') || 'identity';
  if (ctx.request.type !== 'application/json' || encoding !== 'identity') {
    throw new Refusal(415, rpcCodes.refused, 'Unsupported Media Type: send plain application/json.');
  }
  const bytes = await readBytes(ctx);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new Refusal(400, rpcCodes.parseError, 'Parse error: the body is not JSON in UTF-8.');
  }
}

async function readBytes(ctx: Context): Promise<Buffer> {
  if ((ctx.request.length ?? 0) > maximumBytes) throw tooLarge(ctx);
  const chunks: Buffer[] = [];
  let received = 0;
  try {
    for await (const chunk of ctx.req.iterator({ destroyOnReturn: false })) {
      received += chunk.length;
      if (received > maximumBytes) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw new Refusal(400, rpcCodes.parseError, 'Parse error: the body was cut off.', { cause: error });
  }
  if (received > maximumBytes) throw tooLarge(ctx);
  return Buffer.concat(chunks);
}

/** What still arrives is thrown away, so that the caller gets to read the answer. */
function tooLarge(ctx: Context): Refusal {
  ctx.req.resume();
  return new Refusal(413, rpcCodes.refused, 'Payload Too Large: a request may have at most 4 MiB.');
}

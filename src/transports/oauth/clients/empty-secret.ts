import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Context } from 'koa';

/** As the provider accepts. */
const maxFormBytes = 56 * 1024;

/**
 * Turns HTTP Basic with an empty secret, as some public clients send it, into the field `client_id` of the form: a client may leave
 * out an empty secret (RFC 6749, section 2.3.1). A client with a secret is then refused, because it sends none.
 * @returns whether the client has left; otherwise the provider answers the request.
 */
export async function acceptEmptySecret(ctx: Context): Promise<boolean> {
  const clientId = clientIdWithoutSecret(ctx.get('Authorization'));
  const length = ctx.request.length ?? Infinity;
  if (clientId === undefined || length > maxFormBytes || !ctx.is('application/x-www-form-urlencoded'))
    return false;
  // Reading fails only when the client has left: nothing is to be answered then.
  const body = await buffer(ctx.req).catch(() => undefined);
  if (!body) return true;
  const fields = new URLSearchParams(body.toString());
  // Two different values are refused by the provider.
  if (!fields.getAll('client_id').includes(clientId)) fields.append('client_id', clientId);
  const form = Buffer.from(fields.toString());
  const { req } = ctx;
  delete req.headers.authorization;
  req.headers['content-length'] = String(form.length);
  ctx.req = Object.assign(Readable.from([form], { objectMode: false }), {
    headers: req.headers,
    method: req.method,
    url: req.url,
  }) as IncomingMessage;
  return false;
}

function clientIdWithoutSecret(header: string): string | undefined {
  const [, encoded = ''] = /^Basic +([\w+/]+=*)$/i.exec(header) ?? [];
  const [, id] = /^([^:]+):$/.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  try {
    return id === undefined ? undefined : decodeURIComponent(id.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

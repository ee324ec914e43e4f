import type { Context } from 'koa';

const loopback = /^(?:127\.|::1$|::ffff:127\.)/;
const loopbackHostName = /^(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/i;
const proxyHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];

/**
 * Whether a request comes from a program on this machine that wanted to talk to this process: not by way of a proxy that runs here,
 * nor from a page in a browser here whose host name was made to lead here.
 */
export function isFromThisMachine({ req, headers }: Context): boolean {
  return (
    loopback.test(req.socket.remoteAddress ?? '') &&
    loopbackHostName.test(headers.host ?? '') &&
    proxyHeaders.every((name) => headers[name] === undefined)
  );
}

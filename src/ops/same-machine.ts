import type { Context } from 'koa';

const loopback = /^(?:127\.|::1$|::ffff:127\.)/;
const loopbackHostName = /^(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/i;
const proxyHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];

/**
 * Whether a program on this machine sent the request directly: not through a proxy on this machine, and not from a browser page whose host
 * name was rebound to this machine (DNS rebinding).
 */
export function isFromThisMachine({ req, headers }: Context): boolean {
  return (
    loopback.test(req.socket.remoteAddress ?? '') &&
    loopbackHostName.test(headers.host ?? '') &&
    proxyHeaders.every((name) => headers[name] === undefined)
  );
}

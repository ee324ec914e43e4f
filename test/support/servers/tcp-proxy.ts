import { type TcpBalancer, startTcpBalancer } from '../../../scripts/parts/tcp-balancer.ts';

export interface TcpProxy extends TcpBalancer {
  /** The address of the server through the proxy. */
  url: string;
}

/** A way to a server that a test can interrupt, while the server keeps running for the other tests. */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const { hostname: host, port, protocol } = new URL(target);
  const defaultPort = protocol.startsWith('redis') ? 6379 : 5432;
  const proxy = await startTcpBalancer(() => [{ host, port: Number(port || defaultPort) }]);
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  return { ...proxy, url: url.href };
}

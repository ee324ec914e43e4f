import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface Target {
  host: string;
  port: number;
}

export interface TcpBalancer {
  /** Of the loopback interface. */
  port: number;
  /** Ends all connections and refuses new ones, as when nothing is there. */
  disconnect(): Promise<void>;
  /** Takes connections again, on the same port. */
  restore(): Promise<void>;
  /** Keeps the connections and carries nothing, as when the network swallows everything, until `cut`. */
  freeze(): void;
  /** Resets those connections that are chosen, and answers how many. */
  dropConnections(isChosen: () => boolean): number;
  close(): Promise<void>;
}

/**
 * Carries connections to servers, each to the next one in turn. It looks at nothing and knows nobody: where one server refuses, the
 * connection goes to the one after it.
 */
export async function startTcpBalancer(targets: () => readonly Target[]): Promise<TcpBalancer> {
  const near = new Set<Socket>();
  let turn = 0;
  let frozen = false;

  /** One direction. What cannot be written yet is not read either. */
  function carry(from: Socket, to: Socket): void {
    from.on('data', (data) => {
      if (!frozen && !to.write(data)) from.pause();
    });
    to.on('drain', () => from.resume());
    from.on('end', () => to.end());
    from.on('close', () => (from.readableEnded ? to.end() : to.destroy()));
  }

  function reach(client: Socket, all: readonly Target[], tried: number): void {
    const target = all[(turn += 1) % all.length];
    if (!target || tried >= all.length || client.destroyed) return void client.destroy();
    const server = connect(target);
    const refused = () => reach(client, all, tried + 1);
    server.once('error', refused);
    server.once('connect', () => {
      server.off('error', refused);
      server.on('error', () => server.destroy());
      carry(client, server);
      carry(server, client);
      client.resume();
      if (client.destroyed) server.destroy();
    });
  }

  const balancer = createServer({ pauseOnConnect: true, noDelay: true }, (client) => {
    near.add(client);
    client.on('close', () => near.delete(client));
    client.on('error', () => client.destroy());
    reach(client, targets(), 0);
  });
  balancer.listen(0, '127.0.0.1');
  await once(balancer, 'listening');
  const address = balancer.address();
  if (address === null || typeof address === 'string') throw new Error('the balancer has no port');
  const { port } = address;

  async function disconnect(): Promise<void> {
    if (!balancer.listening) return;
    const closed = once(balancer, 'close');
    balancer.close();
    for (const client of near) client.destroy();
    await closed;
    frozen = false;
  }

  return {
    port,
    disconnect,
    async restore() {
      balancer.listen(port, '127.0.0.1');
      await once(balancer, 'listening');
    },
    freeze() {
      frozen = true;
    },
    dropConnections(isChosen) {
      const chosen = Array.from(near).filter(isChosen);
      for (const client of chosen) client.resetAndDestroy();
      return chosen.length;
    },
    close: disconnect,
  };
}

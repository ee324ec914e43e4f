import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface Target {
  host: string;
  port: number;
}

export interface TcpBalancer {
  /** On the loopback interface. */
  port: number;
  /** Closes all connections and refuses new ones, as if no server existed. */
  disconnect(): Promise<void>;
  /** Accepts connections again, on the same port. */
  restore(): Promise<void>;
  /** Keeps the connections but forwards no data, as when a network drops all packets, until `disconnect`. */
  freeze(): void;
  /** Delays what the servers send by this many milliseconds, in order. */
  delayAnswers(milliseconds: number): void;
  /** Resets the chosen connections; returns their number. */
  dropConnections(isChosen: () => boolean): number;
  close(): Promise<void>;
}

/**
 * Forwards TCP connections to servers in rotation. It does no health checks: when one server refuses a connection, it tries the
 * next one.
 */
export async function startTcpBalancer(targets: () => readonly Target[]): Promise<TcpBalancer> {
  const clients = new Set<Socket>();
  let nextIndex = 0;
  let frozen = false;
  let delayMs = 0;

  /** Forwards one direction with backpressure. */
  function forward(from: Socket, to: Socket, runLater = (step: () => void) => step()): void {
    from.on('data', (data) => {
      runLater(() => {
        if (!frozen && !to.write(data)) from.pause();
      });
    });
    to.on('drain', () => from.resume());
    from.on('end', () => runLater(() => to.end()));
    from.on('close', () => (from.readableEnded ? to.end() : to.destroy()));
  }

  function connectToServer(client: Socket, all: readonly Target[], tried: number): void {
    const target = all[(nextIndex += 1) % all.length];
    if (!target || tried >= all.length || client.destroyed) return void client.destroy();
    const server = connect(target);
    const refused = () => connectToServer(client, all, tried + 1);
    server.once('error', refused);
    server.once('connect', () => {
      server.off('error', refused);
      server.on('error', () => server.destroy());
      forward(client, server);
      forward(
        server,
        client,
        createDelay(() => delayMs),
      );
      client.resume();
      if (client.destroyed) server.destroy();
    });
  }

  const balancer = createServer({ pauseOnConnect: true, noDelay: true }, (client) => {
    clients.add(client);
    client.on('close', () => clients.delete(client));
    client.on('error', () => client.destroy());
    connectToServer(client, targets(), 0);
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
    for (const client of clients) client.destroy();
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
    delayAnswers(milliseconds) {
      delayMs = milliseconds;
    },
    dropConnections(isChosen) {
      const chosen = Array.from(clients).filter(isChosen);
      for (const client of chosen) client.resetAndDestroy();
      return chosen.length;
    },
    close: disconnect,
  };
}

/** Returns a function that runs steps in order, each after the delay of its time. */
function createDelay(readDelayMs: () => number): (step: () => void) => void {
  const waiting: (() => void)[] = [];
  let last = 0;
  return (step) => {
    const now = performance.now();
    last = Math.max(last, now + readDelayMs());
    if (last <= now) return step();
    waiting.push(step);
    setTimeout(() => waiting.shift()?.(), last - now);
  };
}

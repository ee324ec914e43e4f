import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Where two servers listen, and how the network between one of them and everything else is cut. */
export interface NodeNetwork {
  /** The address of this machine for both servers. */
  host: string;
  hosts: Record<'a' | 'b', string>;
  /** The command that runs a program on a server. */
  wrapper(name: string): string[];
  /** Drops every packet from and to a server. Nothing is told of it. */
  cut(name: string): Promise<void>;
  restore(name: string): Promise<void>;
}

/** Why no network namespace can be made here, or undefined. */
export async function findNetworkProblem(): Promise<string | undefined> {
  const name = `ams${process.pid % 100_000}t`;
  try {
    await run('ip', ['netns', 'add', name]);
    await run('ip', ['netns', 'del', name]);
    return undefined;
  } catch {
    return 'network namespaces take root and the program ip (apt-get install iproute2)';
  }
}

/** With a prefix: a bridge of this name and a namespace for each server. Without one: loopback, which cannot be cut. */
export async function createTestNetwork(prefix: string): Promise<NodeNetwork> {
  if (prefix === '') {
    const host = '127.0.0.1';
    const refuse = () => Promise.reject(new Error('this cluster has no network of its own'));
    return { host, hosts: { a: host, b: host }, wrapper: () => [], cut: refuse, restore: refuse };
  }
  const subnet = `10.213.${process.pid % 250}`;
  const host = `${subnet}.1`;
  const hosts = { a: `${subnet}.2`, b: `${subnet}.3` };
  const ip = (text: string) => run('ip', text.split(' '));
  await ip(`link add ${prefix} type bridge`);
  await ip(`addr add ${host}/24 dev ${prefix}`);
  await ip(`link set ${prefix} up`);
  for (const name of ['a', 'b'] as const) {
    const space = `${prefix}${name}`;
    await ip(`netns add ${space}`);
    await ip(`link add ${space} type veth peer name eth0 netns ${space}`);
    await ip(`link set ${space} master ${prefix} up`);
    await ip(`-n ${space} addr add ${hosts[name]}/24 dev eth0`);
    await ip(`-n ${space} link set eth0 up`);
    await ip(`-n ${space} link set lo up`);
  }
  return {
    host,
    hosts,
    wrapper: (name) => ['ip', 'netns', 'exec', `${prefix}${name}`],
    cut: async (name) => void (await ip(`link set ${prefix}${name} down`)),
    restore: async (name) => void (await ip(`link set ${prefix}${name} up`)),
  };
}

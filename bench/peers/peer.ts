import type { Bench } from '../start/service.ts';

/** A kind of server to compare: one file of this folder, and an entry in `kinds.ts`. */
export interface PeerKind {
  name: string;
  /** The command that installs what is missing on this machine; null when nothing is. */
  findMissing(): string | null;
  /** Starts a server of its own. @returns a peer for each way to use it */
  start(bench: Bench, size: PeerSize): Promise<readonly Peer[]>;
  /** Connects agents to a running server, also from another process. */
  openClient(address: string, parts: ClientParts): Connect;
}

export type ClientParts = Pick<Bench, 'fail' | 'log' | 'signal' | 'onEnd'>;

/**
 * Connects an agent; resolves when the server has authenticated it and can deliver to it. Agents 0 and 1 are partners, 2 and 3, and so
 * on; an even one sends, an odd one receives. A group has the agents from 0 on, and agent 0 joins first.
 */
export type Connect = (agent: number, role: Role, onMessage: (number: number) => void) => Promise<Connection>;

/** How many agents a peer must be able to connect in each role. */
export interface PeerSize {
  pairs: number;
  members: number;
  idle: number;
}

/** A server that the benchmark measures, with what its clients do. */
export interface Peer {
  name: string;
  /** For `openClient`. */
  address: string;
  connect: Connect;
  /** Waits until the server has processed everything. */
  waitUntilIdle(): Promise<void>;
  /** How many messages with numbers from `first` to `last` are stored; null for a server that stores nothing. */
  countStored(first: number, last: number): Promise<number> | null;
  /** CPU milliseconds of the server and its database so far; null where the system does not report it. */
  readCpuMs(): number | null;
  /** Resident memory of the process that holds the sockets, after garbage collection, in bytes. */
  readMemory(): Promise<number>;
  /** Absent for a server that stores nothing. */
  crash?: Crash;
}

/** What the measure of losses needs. */
export interface Crash {
  /** Ends all processes of the server and its database with SIGKILL. */
  kill9(): Promise<void>;
  /** Starts them again with the same data and address. */
  restart(): Promise<void>;
  /** Numbers of all messages to a receiver, in the order in which a new reader gets them. */
  readAll(receiver: number): Promise<number[]>;
}

export type Role = 'sender' | 'receiver' | 'member' | 'idle';

export interface Connection {
  /** Sends the message with this number: a sender to its partner, a member to its group. Resolves when the server has taken it. */
  send(number: number): Promise<void>;
  close(): void;
}

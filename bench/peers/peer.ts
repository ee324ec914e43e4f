/** A server that the benchmark measures, with what its clients do. */
export interface Peer {
  name: string;
  /**
   * Connects an agent; resolves when the server has authenticated it and can deliver to it. Agents 0 and 1 are partners, 2 and 3, and so
   * on; an even one sends, an odd one receives. A group has the agents from 0 on, and agent 0 joins first.
   */
  connect(agent: number, role: Role, listener: Listener): Promise<Connection>;
  /** How many messages with numbers from `first` to `last` are stored; null for a server that stores nothing. */
  countStored(first: number, last: number): Promise<number> | null;
  /** CPU milliseconds of the server and its database so far; null where the system does not report it. */
  readCpuMs(): number | null;
  /** Resident memory of the process that holds the sockets, after garbage collection, in bytes. */
  readMemory(): Promise<number>;
}

export type Role = 'sender' | 'receiver' | 'member' | 'idle';

/** The callbacks of one connection. */
export interface Listener {
  /** A message arrived. */
  onMessage(number: number): void;
  /** The server has taken a message of this connection. */
  onAcknowledged(number: number): void;
}

export interface Connection {
  /** Sends the message with this number: a sender to its partner, a member to its group. */
  send(number: number): void;
  close(): void;
}

/** What every peer of one run needs. */
export interface PeerParts {
  log: (line: string) => void;
  signal: AbortSignal;
  /** Ends the run when something fails outside of its calls. */
  fail: (reason: Error) => void;
}

const digits = 9;

/** The number that follows a marker in a frame; null for a frame without it. */
export function readNumber(frame: Buffer, marker: Buffer): number | null {
  const start = frame.indexOf(marker);
  if (start < 0) return null;
  const at = start + marker.length;
  return Number(frame.toString('latin1', at, at + digits));
}

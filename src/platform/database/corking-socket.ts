import { Socket } from 'node:net';

/**
 * A socket that sends everything written in one tick as one packet. pg writes each statement separately, and each write is a system call
 * that wakes the server, so pipelining would save nothing.
 */
export class CorkingSocket extends Socket {
  #gathering = false;

  override write(...args: unknown[]): boolean {
    if (!this.#gathering) {
      this.#gathering = true;
      this.cork();
      process.nextTick(() => {
        this.#gathering = false;
        this.uncork();
      });
    }
    return super.write(...(args as Parameters<Socket['write']>));
  }
}

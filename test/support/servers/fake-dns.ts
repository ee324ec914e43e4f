import type { lookup as systemLookup } from 'node:dns';
import { isIP } from 'node:net';

type Answer = (error: Error | null, addresses: { address: string; family: number }[]) => void;

/** A resolver that gives every name the next of these answers, and then always the last one. No answer: the name is unknown. */
export function createFakeDns(...answers: readonly (readonly string[])[]) {
  const next = [...answers];
  const names: string[] = [];
  const lookup = (name: string, _options: object, callback: Answer): void => {
    names.push(name);
    const addresses = next.length > 1 ? next.shift() : next[0];
    if (addresses)
      callback(
        null,
        addresses.map((address) => ({ address, family: isIP(address) })),
      );
    else callback(Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' }), []);
  };
  return {
    lookup: lookup as unknown as typeof systemLookup,
    /** The names that were looked up. */
    names,
    /** Answers with these addresses from now on. */
    setAddresses: (...addresses: readonly string[]) => void next.splice(0, next.length, addresses),
  };
}

import type { LiveEvent } from './contract.ts';

/**
 * The envelope of the contract, section 4, as JSON text. Type, id and cursor are of our own making and need no escaping; the
 * data is the text that all receivers share.
 */
export function envelopeText({ type, id, cursor, created_at, data_json }: LiveEvent): string {
  return `{"type":"${type}","id":"${id}","cursor":"${cursor}","created_at":${created_at},"data":${data_json}}`;
}

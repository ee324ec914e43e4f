import type { Courier } from '../../src/domain/courier.ts';
import { derivedKey } from '../../src/domain/derived-key.ts';
import { sealedBox } from '../../src/domain/sealed-box.ts';

const courier: Courier = {
  refusal: () => 'is not called from here',
  post: () => Promise.resolve({ status: null, fault: 'nothing is posted from here' }),
};

/** What a unit of work needs that neither seals nor posts anything. */
export const noWayOut = { vault: sealedBox(derivedKey('a test', 'ams vault')), courier };

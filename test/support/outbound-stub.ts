import type { WebhookSender } from '../../src/domain/outbound.ts';
import { deriveKey } from '../../src/shared/derived-key.ts';
import { createSealedBox } from '../../src/shared/encryption.ts';

const webhookSender: WebhookSender = {
  checkUrl: () => 'is not called from here',
  send: () => Promise.resolve({ status: null, error: 'nothing is posted from here' }),
};

/** What a unit of work needs that neither seals nor posts anything. */
export const disabledOutbound = {
  sealedBox: createSealedBox(deriveKey('a test', 'ams vault')),
  webhookSender,
};

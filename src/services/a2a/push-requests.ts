import { Webhook as Signer } from 'standardwebhooks';
import type { OutboundRequest } from '../../../packages/core/src/domain/outbound.ts';
import type { PushConfigRow } from '../../repositories/a2a/push-configs.ts';
import type { SealedBox } from '../../shared/encryption.ts';
import { isWebhookSecret } from '../webhooks/secrets.ts';

type ConfigKey = Pick<PushConfigRow, 'task_id' | 'id'>;
type Secret = 'credentials' | 'token';

const nameOf = ({ task_id, id }: ConfigKey, secret: Secret): string => `${task_id}/${id}/${secret}`;

/** Returns a function that seals the secrets of a config. */
export function sealFor(box: SealedBox, config: ConfigKey) {
  return (secret: Secret, text: string | undefined): Buffer | null =>
    text === undefined ? null : box.seal(text, nameOf(config, secret));
}

/**
 * Returns the request that sends one update to a receiver (A2A 1.0, section 4.3.3). Its id is the same for every attempt. A token that is a
 * secret of Standard Webhooks signs the request, which then does not contain it.
 * @param update its body, and the generation of the task.
 * @throws if SECRET_KEY is not the one with which the secrets were sealed
 */
export function createPushRequest(
  box: SealedBox,
  config: PushConfigRow,
  { event, generation, now }: { event: object; generation: number; now: number },
): OutboundRequest {
  const open = (secret: Secret) =>
    config[secret] === null ? undefined : box.open(config[secret], nameOf(config, secret));
  const id = `${config.task_id}-${generation}`;
  const body = JSON.stringify(event);
  const token = open('token');
  const isSecret = token !== undefined && isWebhookSecret(token);
  const authorization =
    config.scheme !== null && [config.scheme, open('credentials')].filter(Boolean).join(' ');
  const headers = {
    'content-type': config.version === '0.3' ? 'application/json' : 'application/a2a+json',
    'a2a-version': config.version,
    ...(authorization && { authorization }),
    ...(token !== undefined && !isSecret && { 'x-a2a-notification-token': token }),
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now / 1_000)),
    ...(isSecret && { 'webhook-signature': new Signer(token).sign(id, new Date(now), body) }),
  };
  return { url: config.url, headers, body };
}

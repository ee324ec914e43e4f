import type { Auth } from '@agent-messaging/client';
import { ValidationError } from '@chat-adapter/shared';
import type { WebhookVerifier } from './receive.ts';
import { adapterName } from './thread-ids.ts';

export interface AgentMessagingAdapterOptions {
  /** The address of the service; default: AMS_URL. */
  url?: string;
  /** The sign-in of the bot; default: AMS_TOKEN, or AMS_CLIENT_ID and AMS_CLIENT_SECRET. */
  auth?: Auth;
  /** The secret of the webhook; default: AMS_WEBHOOK_SECRET. */
  webhookSecret?: string;
  /** Verifies requests instead of the check of the signature, for requests that another service forwards. */
  webhookVerifier?: WebhookVerifier;
}

/**
 * Fills missing options from environment variables.
 * @throws {ValidationError} if the address, the sign-in or the secret of the webhook is missing
 */
export function readOptions(options: AgentMessagingAdapterOptions) {
  const { AMS_URL, AMS_TOKEN, AMS_CLIENT_ID, AMS_CLIENT_SECRET, AMS_WEBHOOK_SECRET } = process.env;
  const credentials = AMS_CLIENT_ID &&
    AMS_CLIENT_SECRET && { clientId: AMS_CLIENT_ID, clientSecret: AMS_CLIENT_SECRET };
  const { url = AMS_URL, auth = AMS_TOKEN || credentials, webhookVerifier } = options;
  const { webhookSecret = AMS_WEBHOOK_SECRET } = options;
  if (!url) throw new ValidationError(adapterName, 'Set url or AMS_URL: the address of the service.');
  if (!auth)
    throw new ValidationError(adapterName, 'Set auth, AMS_TOKEN, or AMS_CLIENT_ID and AMS_CLIENT_SECRET.');
  if (!webhookVerifier && !webhookSecret?.startsWith('whsec_'))
    throw new ValidationError(
      adapterName,
      'Set webhookSecret or AMS_WEBHOOK_SECRET to the secret of the webhook, whsec_…',
    );
  return { url, auth, webhookSecret, webhookVerifier };
}

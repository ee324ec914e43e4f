import { deleteWebhookOperation } from '../../../../operations/webhooks/delete-webhook.ts';
import { getWebhookOperation } from '../../../../operations/webhooks/get-webhook.ts';
import { replayWebhookDeliveriesOperation } from '../../../../operations/webhooks/replay-webhook-deliveries.ts';
import { replayWebhookDeliveryOperation } from '../../../../operations/webhooks/replay-webhook-delivery.ts';
import { rotateWebhookSecretOperation } from '../../../../operations/webhooks/rotate-webhook-secret.ts';
import { testWebhookOperation } from '../../../../operations/webhooks/test-webhook.ts';
import { updateWebhookOperation } from '../../../../operations/webhooks/update-webhook.ts';
import { type ActingAgent, actAsAgent } from '../../act-as-agent.ts';
import { successFlash } from '../../flash.ts';
import { confirmPage } from '../../components/confirm-page.tsx';
import { redirectOrWarn } from '../../form-errors.ts';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute, page, type PersonVisit, type Redirect } from '../../route.ts';
import { agentAddress } from '../agents/heading.tsx';
import { readIdempotencyKey } from '../../idempotency-key.ts';
import { webhookSecretPage } from './new.tsx';
import { webhookAddress } from './webhook.tsx';

const path = '/console/agents/:id/webhooks/:webhook_id';

/** The actions on a webhook's page. */
export function webhookActionRoutes(parts: PageParts): ConsoleRoute[] {
  const actingIn = ({ params, person }: PersonVisit) => actAsAgent(parts, person, params['id'] ?? '');
  const idOf = ({ params }: PersonVisit) => params['webhook_id'] ?? '';
  /** Runs an action and redirects to the webhook's page. */
  async function runAndReturn(
    visit: PersonVisit,
    run: (call: ActingAgent['call'], webhook_id: string) => Promise<string>,
    subpage?: string,
  ): Promise<Redirect> {
    const { agent, call } = await actingIn(visit);
    // Fails with 404 first, because an unknown webhook has no page to return to.
    await call(getWebhookOperation, { webhook_id: idOf(visit) });
    return redirectOrWarn<Redirect>(webhookAddress(agent, idOf(visit), subpage), () =>
      run(call, idOf(visit)),
    );
  }

  return [
    action(`${path}/state`, (visit) =>
      runAndReturn(visit, async (call, webhook_id) => {
        const enabled = visit.form.get('enabled') === 'true';
        await call(updateWebhookOperation, { webhook_id, enabled });
        return `Webhook ${enabled ? 'enabled' : 'disabled'}.`;
      }),
    ),
    action(`${path}/test`, async (visit) => {
      let isDelivered = true;
      const { to, flash } = await runAndReturn(visit, async (call, webhook_id) => {
        const { delivered, status, error } = await call(testWebhookOperation, { webhook_id });
        isDelivered = delivered;
        if (status === null) return `The test event could not be delivered: ${error}.`;
        return `The server answered the test event with ${status}: ${delivered ? 'delivered' : 'not delivered'}.`;
      });
      return { to, flash: isDelivered || !flash ? flash : { ...flash, tone: 'warning' } };
    }),
    action(`${path}/replay`, (visit) =>
      runAndReturn(
        visit,
        async (call, webhook_id) => {
          const delivery_id = visit.form.get('delivery_id');
          if (delivery_id !== null) {
            await call(replayWebhookDeliveryOperation, { webhook_id, delivery_id });
            return 'The event will be sent again.';
          }
          const { replayed, complete } = await call(replayWebhookDeliveriesOperation, {
            webhook_id,
            since: 0,
          });
          const text = replayed === 1 ? 'One event' : `${replayed} events`;
          return `${text} will be sent again.${complete ? '' : ' There are more: press the button again.'}`;
        },
        'deliveries',
      ),
    ),
    action(`${path}/rotate`, async (visit) => {
      const { agent, call } = await actingIn(visit);
      const input = { webhook_id: idOf(visit) };
      return webhookSecretPage(
        agent,
        await call(rotateWebhookSecretOperation, input, readIdempotencyKey(visit.form)),
      );
    }),
    page(`${path}/remove`, async (visit) => {
      const { agent, call } = await actingIn(visit);
      const { id, url, description } = await call(getWebhookOperation, { webhook_id: idOf(visit) });
      return confirmPage({
        title: `Remove ${description || new URL(url).host}?`,
        children: <p>No more events are sent to it, including pending ones. This cannot be undone.</p>,
        action: webhookAddress(agent, id, 'remove'),
        button: 'Remove webhook',
        back: webhookAddress(agent, id),
      });
    }),
    action(`${path}/remove`, async (visit) => {
      const { agent, call } = await actingIn(visit);
      await call(deleteWebhookOperation, { webhook_id: idOf(visit) });
      return { to: agentAddress(agent, 'webhooks'), flash: successFlash('Webhook removed.') };
    }),
  ];
}

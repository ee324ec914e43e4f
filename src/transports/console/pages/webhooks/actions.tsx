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
import { readIdempotencyKey, webhookSecretPage } from './new.tsx';
import { webhookAddress } from './webhook.tsx';

const path = '/console/agents/:id/webhooks/:webhook_id';

/** The buttons of a webhook's page. */
export function webhookActionRoutes(parts: PageParts): ConsoleRoute[] {
  const actingIn = ({ params, person }: PersonVisit) => actAsAgent(parts, person, params['id'] ?? '');
  const idOf = ({ params }: PersonVisit) => params['webhook_id'] ?? '';
  /** Does it, and goes back to the page of the webhook. */
  async function back(
    visit: PersonVisit,
    run: (call: ActingAgent['call'], webhook_id: string) => Promise<string>,
  ): Promise<Redirect> {
    const { agent, call } = await actingIn(visit);
    // One that is not there has no page to go back to.
    await call(getWebhookOperation, { webhook_id: idOf(visit) });
    return redirectOrWarn(webhookAddress(agent, idOf(visit)), () => run(call, idOf(visit)));
  }

  return [
    action(`${path}/state`, (visit) =>
      back(visit, async (call, webhook_id) => {
        const enabled = visit.form.get('enabled') === 'true';
        await call(updateWebhookOperation, { webhook_id, enabled });
        return `The webhook is ${enabled ? 'enabled' : 'disabled'}.`;
      }),
    ),
    action(`${path}/test`, async (visit) => {
      let taken = true;
      const { to, flash } = await back(visit, async (call, webhook_id) => {
        const { delivered, status, error } = await call(testWebhookOperation, { webhook_id });
        taken = delivered;
        if (status === null) return `The test did not arrive: ${error}.`;
        return `The answer to the test was ${status}: it was ${delivered ? '' : 'not '}taken.`;
      });
      return { to, flash: taken || !flash ? flash : { ...flash, tone: 'warning' } };
    }),
    action(`${path}/replay`, (visit) =>
      back(visit, async (call, webhook_id) => {
        const delivery_id = visit.form.get('delivery_id');
        if (delivery_id !== null) {
          await call(replayWebhookDeliveryOperation, { webhook_id, delivery_id });
          return 'The event is posted once more.';
        }
        const { replayed, complete } = await call(replayWebhookDeliveriesOperation, { webhook_id, since: 0 });
        const text = replayed === 1 ? 'One event is' : `${replayed} events are`;
        return `${text} posted once more.${complete ? '' : ' There are more: press the button again.'}`;
      }),
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
        children: <p>Nothing is posted to it any more, not even what still waits. It cannot be undone.</p>,
        action: webhookAddress(agent, id, 'remove'),
        button: 'Remove it',
        back: webhookAddress(agent, id),
      });
    }),
    action(`${path}/remove`, async (visit) => {
      const { agent, call } = await actingIn(visit);
      await call(deleteWebhookOperation, { webhook_id: idOf(visit) });
      return { to: agentAddress(agent, 'webhooks'), flash: successFlash('The webhook is removed.') };
    }),
  ];
}

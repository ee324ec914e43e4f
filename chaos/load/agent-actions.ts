import type { ContactRequestAttempt, MemberChange, WebhookAttempt } from '../history.ts';
import { anyAnswer, createdWebhook, readAnswer, requestedContact } from './actions.ts';
import type { LoadContext } from './context.ts';
import { newAttempt } from './retry.ts';

/** Webhooks of a run. */
const maxWebhooks = 6;

/** Contact requests, members of threads, and webhooks. Each action resolves when it is acknowledged or abandoned. */
export function createAgentActions(context: LoadContext) {
  const { agents, threads, random, history, retry, receiver, findAgent, callersOf, pickMember, act } =
    context;
  const ids = agents.map(({ id }) => id);
  const strangers = random.sample(
    agents.flatMap((one, index) => agents.slice(index + 1).map((other) => [one, other] as const)),
    agents.length ** 2,
  );

  return {
    async requestContact() {
      const pair = strangers.pop();
      if (!pair) return;
      const [sender, recipient] = pair;
      const attempt: ContactRequestAttempt = { ...newAttempt(sender), to: recipient.id };
      history.contact_requests.push(attempt);
      const { REST } = callersOf(sender);
      const { key } = attempt;
      await retry.withKey(attempt, async () =>
        readAnswer(await REST('request_contact', { handle: recipient.handle }, { key }), requestedContact),
      );
    },
    addMember: () =>
      act(async ({ thread_id, add }, by) =>
        add(ids, (member_id) => {
          const attempt: MemberChange = { ...newAttempt(by), kind: 'added', thread_id, member_id };
          history.member_changes.push(attempt);
          const input = { thread_id, handle: findAgent(member_id).handle };
          const { key } = attempt;
          return retry.withKey(attempt, async () =>
            readAnswer(await callersOf(by).REST('add_member', input, { key }), anyAnswer),
          );
        }),
      ),
    async removeMember() {
      const thread = random.pick(threads);
      const { thread_id } = thread;
      await thread.remove((member_id) => {
        const by = random.chance(0.5) ? findAgent(member_id) : pickMember(thread);
        const attempt: MemberChange = { ...newAttempt(by), kind: 'removed', thread_id, member_id };
        history.member_changes.push(attempt);
        return thread.act(by.id, () =>
          retry.once(attempt, async () => {
            const outcome = await callersOf(by).REST('remove_member', { thread_id, member_ref: member_id });
            // A repeated removal finds no such member, or no such thread if the agent left.
            const isRemoved = attempt.attempts > 1 && 'refused' in outcome && outcome.status === 404;
            return isRemoved ? { answer: null } : readAnswer(outcome, anyAnswer);
          }),
        );
      });
    },
    async createWebhook() {
      if (!receiver || history.webhooks.length >= maxWebhooks) return;
      const agent = random.pick(agents);
      const attempt: WebhookAttempt = { ...newAttempt(agent), posts: [] };
      history.webhooks.push(attempt);
      const url = receiver.addUrl((post) => void attempt.posts.push(post));
      const { key } = attempt;
      await retry.withKey(attempt, async () =>
        readAnswer(await callersOf(agent).REST('create_webhook', { url }, { key }), createdWebhook),
      );
    },
  };
}

import { addAllowlistEntryOperation } from '../../../../operations/contacts/add-allowlist-entry.ts';
import { listAllowlistOperation } from '../../../../operations/contacts/list-allowlist.ts';
import { removeAllowlistEntryOperation } from '../../../../operations/contacts/remove-allowlist-entry.ts';
import { type ActingAgent, actAsAgent } from '../../act-as-agent.ts';
import { successFlash } from '../../flash.ts';
import { Handle } from '../../components/agent-rows.tsx';
import { Card, ErrorNotice } from '../../components/content.tsx';
import { Field } from '../../components/field.tsx';
import { Actions, Button, Form } from '../../components/form.tsx';
import { Rows } from '../../components/rows.tsx';
import { NextPage } from '../../components/next-page.tsx';
import { Time } from '../../components/time.tsx';
import { redirectOrWarn, formPage, orShowFormAgain, type FormErrors } from '../../form-errors.ts';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute, page, type PersonVisit, type ShownPage } from '../../route.ts';
import { agentAddress, AgentHeading } from '../agents/heading.tsx';

const path = '/console/agents/:id/allowlist';

/** The allowlist of an agent. */
export function allowlistRoutes(parts: PageParts): ConsoleRoute[] {
  const actingIn = ({ params, person }: PersonVisit) => actAsAgent(parts, person, params['id'] ?? '');

  return [
    page(path, async (visit) => allowlistPage(await actingIn(visit), { cursor: visit.query.get('cursor') })),
    action(path, async (visit) => {
      const acting = await actingIn(visit);
      const entered = (visit.form.get('entry') ?? '').trim();
      return orShowFormAgain(
        async () => {
          const { entry } = await acting.call(addAllowlistEntryOperation, { entry: entered });
          return {
            to: agentAddress(acting.agent, 'allowlist'),
            flash: successFlash(`Added @${entry} to the allowlist.`),
          };
        },
        (formErrors) => allowlistPage(acting, { entered, formErrors }),
        { INVALID_HANDLE: 'entry' },
      );
    }),
    action(`${path}/remove`, async (visit) => {
      const { agent, call } = await actingIn(visit);
      const entry = visit.form.get('entry') ?? '';
      return redirectOrWarn(agentAddress(agent, 'allowlist'), async () => {
        await call(removeAllowlistEntryOperation, { entry });
        return `Removed @${entry} from the allowlist.`;
      });
    }),
  ];
}

interface Allowlist {
  cursor?: string | null;
  /** The entered value. */
  entered?: string;
  formErrors?: FormErrors;
}

async function allowlistPage({ agent, call }: ActingAgent, options: Allowlist): Promise<ShownPage> {
  const { cursor = null, entered, formErrors } = options;
  const address = agentAddress(agent, 'allowlist');
  const input = { limit: 50, ...(cursor !== null && { cursor }) };
  const { allowlist, next_cursor } = await call(listAllowlistOperation, input);
  const rows = allowlist.map(({ entry, created_at }) => ({
    key: entry,
    title: <Handle of={entry} />,
    text: (
      <>
        Added <Time at={created_at} />
      </>
    ),
    side: (
      <Form action={`${address}/remove`} class="inline" hidden={{ entry }}>
        <Button kind="quiet">
          Remove<span class="visually-hidden"> @{entry}</span>
        </Button>
      </Form>
    ),
  }));
  const body = (
    <>
      <AgentHeading agent={agent} current={agentAddress(agent, 'settings')} />
      <Card title="Add to the allowlist">
        <ErrorNotice {...formErrors} />
        <p>
          Agents on the list can start threads with this agent if its access setting is “Contacts and an
          allowlist”.
        </p>
        <Form action={address}>
          <Field
            name="entry"
            label="Agent or owner"
            hint={
              <>
                Handle of an agent, or <span class="code">owner.*</span> for all agents of an owner.
              </>
            }
            value={entered}
            error={formErrors?.fields['entry']}
            maxlength={80}
            plain
            required
          />
          <Actions>
            <Button>Add</Button>
          </Actions>
        </Form>
      </Card>
      <Card title="Allowlist">
        {rows.length === 0 ? <p>The allowlist is empty.</p> : <Rows label="Allowlist" rows={rows} />}
        <NextPage path={address} next={{ cursor: next_cursor }} noun="entries" />
      </Card>
    </>
  );
  return formPage(`Allowlist of ${agent.display_name}`, body, formErrors);
}

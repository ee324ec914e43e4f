import type { Person } from '../../../../../packages/core/src/domain/auth/actor.ts';
import { warnIfUnreachable } from '../../../../../packages/core/src/domain/agents/agents.ts';
import { parseInput } from '../../../../../packages/core/src/inputs/parse-input.ts';
import { registerAgentOperation } from '../../../../operations/agents/register-agent.ts';
import { registerForPerson } from '../../../../services/people/agents.ts';
import { listOrganizations, type Organization } from '../../../../services/people/memberships.ts';
import { Card, ErrorNotice } from '../../components/content.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import { type EnteredIn, Fields, readFields, selectField } from '../../define/fields.tsx';
import { definePage } from '../../define/page.tsx';
import type { PageVisit, Submitted } from '../../define/section.ts';
import { orShowFormAgain } from '../../form-errors.ts';
import { name } from '../people/account-fields.tsx';
import { AgentCard, cardFields, maxProfileFormBytes, nameFields } from './fields.tsx';
import { agentAddress } from './agent-page.tsx';
import { accessFields, defaultPreset, presetFields, toAccess } from './setting-text.ts';

interface NewAgentVisit extends PageVisit {
  /** The possible owners of the agent: `personal`, or `member:` or `shared:` and the slug of an organization. */
  owners: readonly { value: string; text: string }[];
}

/** Creates a personal agent or one of an organization. */
export const agentNewPage = definePage({
  path: '/console/agents/new',
  load: async ({ read, person }) => ({ owners: toOwners(person, await read(listOrganizations, person)) }),
  title: 'New agent',
  back: { href: '/console/agents', text: 'Agents' },
  lead: 'An identity with which software sends and receives messages.',
  sections: () => [
    {
      show: showForm,
      form: {
        name: '',
        maxFormBytes: maxProfileFormBytes,
        submit(visit, again) {
          const entered = readFields(allFields(visit), visit.form);
          const intent = visit.form.get('intent');
          return orShowFormAgain(
            async () => {
              if (intent === 'rows') return again({ form: '', entered });
              const input = parseInput(registerAgentOperation.input, toInput(entered));
              if (intent === 'preview') return again({ form: '', entered });
              const agent = await visit.write(registerForPerson, visit.person.account_id, input);
              const text = `Created @${agent.canonical_handle}. ${warnIfUnreachable(input)}`;
              return { to: agentAddress(agent), flash: text.trim() };
            },
            (errors) => again({ form: '', entered, errors }),
            { DUPLICATE_HANDLE: 'name', NOT_FOUND: 'owner', FORBIDDEN: 'owner' },
          );
        },
      },
    },
  ],
});

function toOwners({ username }: Person, organizations: readonly Organization[]) {
  return [
    { value: 'personal', text: `You (@${username}.…)` },
    ...organizations.flatMap(({ slug, role }) => [
      { value: `member:${slug}`, text: `${slug}, managed by you (@${slug}.…)` },
      ...(role === 'admin'
        ? [{ value: `shared:${slug}`, text: `${slug}, shared by its admins (@${slug}.…)` }]
        : []),
    ]),
  ];
}

function identityFields({ owners, person }: NewAgentVisit) {
  const isPersonalOnly = owners.length === 1;
  const label = isPersonalOnly ? 'Handle' : 'Name in the handle';
  return {
    owner: { ...selectField('Owner', owners), ...(isPersonalOnly && { show: () => null }) },
    name: name(
      label,
      'It cannot be changed later.',
      isPersonalOnly ? { prefix: `@${person.username}.` } : {},
    ),
    ...nameFields,
  };
}

function allFields(visit: NewAgentVisit) {
  return { ...identityFields(visit), ...presetFields, ...accessFields, ...cardFields(false) };
}

/** The input of the operation `register_agent`. */
function toInput({
  owner,
  preset,
  visibility,
  inbound_policy,
  ...entered
}: EnteredIn<ReturnType<typeof allFields>>) {
  const [scope, organization] = owner.split(':');
  const ownership = organization === undefined ? {} : { scope, organization };
  const access = toAccess({ preset, visibility, inbound_policy });
  return { ...entered, name: entered.name.trim(), ...access, ...ownership };
}

function showForm(visit: NewAgentVisit, submitted: Submitted | undefined) {
  const { person, query, form, address } = visit;
  const intent = form.get('intent');
  const isPreview = intent === 'preview' && submitted !== undefined && !submitted.errors;
  const empty = {
    owner: query.get('owner') ?? 'personal',
    preset: defaultPreset,
    visibility: '',
    inbound_policy: '',
  };
  const entered = submitted && readFields(allFields(visit), form);
  const values = entered ?? empty;
  const { fields = {} } = submitted?.errors ?? {};
  const owner = fields['owner'] ?? fields['organization'] ?? fields['scope'];
  const errors = { ...fields, ...(owner !== undefined && { owner }) };
  const isDetailed =
    entered &&
    ([entered.card_body, entered.visibility, entered.inbound_policy].some(Boolean) ||
      entered.skills.length > 0);
  return (
    <>
      {isPreview && entered && (
        <Card title="Card as others will see it">
          <AgentCard
            handle={`${values.owner.split(':')[1] ?? person.username}.${entered.name.trim().toLowerCase()}`}
            profile={entered}
          />
        </Card>
      )}
      <Form action={address}>
        <ErrorNotice {...submitted?.errors} />
        <Card title="Identity">
          <Fields fields={identityFields(visit)} values={values} errors={errors} />
        </Card>
        <Card title="Access">
          <Fields fields={presetFields} values={values} errors={errors} />
        </Card>
        <details open={isDetailed === true || isPreview || intent === 'rows'}>
          <summary>Advanced</summary>
          <Card>
            <Fields
              fields={{ ...accessFields, ...cardFields(intent === 'rows') }}
              values={values}
              errors={errors}
            />
          </Card>
        </details>
        <Actions>
          <Button name="intent" value="create">
            Create agent
          </Button>
          <Button kind="quiet" name="intent" value="preview">
            Preview the card
          </Button>
          <ButtonLink href="/console/agents">Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}

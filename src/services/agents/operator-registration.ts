import type { OwnerRow } from '../../repositories/people/owners.ts';
import { defaultVisibility } from '../../../packages/core/src/domain/agents/agents.ts';
import { DomainError, wrongField } from '../../../packages/core/src/domain/errors.ts';
import { parseHandle } from '../../../packages/core/src/domain/agents/handles.ts';
import { toOneLine } from '../../../packages/core/src/domain/visible-text.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';
import { insertAgent } from './registration.ts';
import { createAccount } from '../people/accounts.ts';
import { requireOwner } from '../people/owners.ts';

type NewAgent = Parameters<SystemWork['db']['agents']['insert']>[0];

export interface OperatorRegistration {
  /** `owner.agent_name` */
  handle: string;
  display_name?: string | undefined;
  description?: string | undefined;
  /** Default: `personal` for a person's agent, `member` if a member is set, otherwise `shared`. */
  scope?: NewAgent['scope'] | undefined;
  visibility?: NewAgent['visibility'] | undefined;
  inbound_policy?: NewAgent['inbound_policy'] | undefined;
  /** The username of the person that an agent with scope `member` belongs to. */
  member?: string | undefined;
  /** Creates an account without a password if the owner does not exist. */
  create_owner?: boolean | undefined;
}

/**
 * Registers an agent for an operator.
 * @throws {DomainError} INVALID_HANDLE, NOT_FOUND (owner, member), DUPLICATE_HANDLE, VALIDATION_ERROR (the scope does not fit
 * the owner, or the person is not a member of the organization)
 */
export async function registerAgentAsOperator(work: SystemWork, input: OperatorRegistration) {
  const handle = parseHandle(input.handle);
  const owner = await findOrCreateOwner(work, handle.owner, input.create_owner ?? false);
  const scope = input.scope ?? defaultScope(owner, input.member);
  return insertAgent(work, {
    owner_id: owner.id,
    member_account_id: await resolveMemberAccount(work, owner, scope, input.member),
    canonical_handle: handle.canonical,
    display_name: toDisplayName(input.display_name ?? handle.name),
    description: input.description ?? '',
    scope,
    visibility: input.visibility ?? defaultVisibility,
    inbound_policy: input.inbound_policy ?? 'contacts_only',
    card_body: '',
    skills: [],
  });
}

/** @throws {DomainError} VALIDATION_ERROR */
function toDisplayName(text: string): string {
  const display_name = toOneLine(text);
  if (display_name === '') throw wrongField('display_name', 'must have a visible character');
  return display_name;
}

async function findOrCreateOwner(work: SystemWork, name: string, create: boolean): Promise<OwnerRow> {
  const owner = await work.db.owners.find(name);
  if (owner) return owner;
  if (!create) throw new DomainError('NOT_FOUND', `No such owner: ${name}. Create it first.`);
  const { id, created_at } = await createAccount(work, { username: name, password_hash: null });
  return { id, name, created_at, kind: 'account' };
}

function defaultScope(owner: OwnerRow, member: string | undefined): NewAgent['scope'] {
  if (owner.kind === 'account') return 'personal';
  return member === undefined ? 'shared' : 'member';
}

/** Checks that scope, owner and member fit together. Returns the account id of the member, or null. */
async function resolveMemberAccount(
  work: SystemWork,
  owner: OwnerRow,
  scope: NewAgent['scope'],
  member: string | undefined,
): Promise<string | null> {
  if ((owner.kind === 'account') !== (scope === 'personal')) {
    const allowed = owner.kind === 'account' ? 'personal' : 'member or shared';
    throw new DomainError(
      'VALIDATION_ERROR',
      `An agent of the ${owner.kind} ${owner.name} must have the scope ${allowed}.`,
    );
  }
  if ((scope === 'member') !== (member !== undefined)) {
    throw new DomainError(
      'VALIDATION_ERROR',
      scope === 'member'
        ? '--member is required for the scope member.'
        : '--member is only for the scope member. Leave it out.',
    );
  }
  if (member === undefined) return null;
  const account = await requireOwner(work, member, 'account');
  if (await work.db.owners.findMember(owner.id, account.id)) return account.id;
  throw new DomainError('VALIDATION_ERROR', `${account.name} is not a member of ${owner.name}.`);
}

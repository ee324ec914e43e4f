-- Step 4 of docs/scaling.md: Citus stores every table in one of four ways. A call for a distributed table copies it while the service
-- writes to it, so none can be in a transaction. A call for a reference table blocks writes to that table until it is copied.
-- test/integration/repositories/citus.test.ts holds this file to the schema.

-- On every node, because statements join them with all others. They change seldom; a change is written on every node.
select create_reference_table('owners');
select create_reference_table('invitations');
select create_reference_table('accounts');
select create_reference_table('organization_members');
select create_reference_table('agents');
select create_reference_table('contacts');
select create_reference_table('blocks');
select create_reference_table('allowlist_entries');
select create_reference_table('attachments');
select create_reference_table('webhooks');

-- By thread: what a message is stored with.
select create_distributed_table_concurrently('threads', 'id', colocate_with => 'none');
select create_distributed_table_concurrently('thread_members', 'thread_id', colocate_with => 'threads');
select create_distributed_table_concurrently('thread_exchanges', 'thread_id', colocate_with => 'threads');
select create_distributed_table_concurrently('messages', 'thread_id', colocate_with => 'threads');
select create_distributed_table_concurrently('message_search', 'thread_id', colocate_with => 'threads');

-- The clock of leases, which statements call where the shards of an agent are.
select create_distributed_function('lease_clock()');

-- By agent: what a feed and an inbox are read with.
select create_distributed_table_concurrently('feed_heads', 'agent_id', colocate_with => 'none');
select create_distributed_table_concurrently('feed', 'agent_id', colocate_with => 'feed_heads');
select create_distributed_table_concurrently('inboxes', 'agent_id', colocate_with => 'feed_heads');
select create_distributed_table_concurrently('deleted_inboxes', 'agent_id', colocate_with => 'feed_heads');
select create_distributed_table_concurrently('inbox_items', 'agent_id', colocate_with => 'feed_heads');
select create_distributed_table_concurrently('inbox_consumers', 'agent_id', colocate_with => 'feed_heads');
select create_distributed_table_concurrently('usage_days', 'sender_id', colocate_with => 'feed_heads');

-- By their own keys: no statement joins them by thread or agent.
select create_distributed_table_concurrently('events', 'id', colocate_with => 'none');
select create_distributed_table_concurrently('webhook_deliveries', 'webhook_id', colocate_with => 'none');
select create_distributed_table_concurrently('outbox', 'subject_id', colocate_with => 'none');
select create_distributed_table_concurrently('idempotency_keys', 'key_hash', colocate_with => 'none');

-- On the coordinator: sign-in, settings and the state of processes. Statements join them with tables on every node only.
select citus_add_local_table_to_metadata('access_tokens');
select citus_add_local_table_to_metadata('account_identities');
select citus_add_local_table_to_metadata('agent_exports');
select citus_add_local_table_to_metadata('approvals');
select citus_add_local_table_to_metadata('audit_log');
select citus_add_local_table_to_metadata('client_grants');
select citus_add_local_table_to_metadata('contact_requests');
select citus_add_local_table_to_metadata('credentials');
select citus_add_local_table_to_metadata('erasures');
select citus_add_local_table_to_metadata('event_subscriptions');
select citus_add_local_table_to_metadata('external_sign_ins');
select citus_add_local_table_to_metadata('feed_origin');
select citus_add_local_table_to_metadata('mcp_sessions');
select citus_add_local_table_to_metadata('membership_invitations');
select citus_add_local_table_to_metadata('notification_settings');
select citus_add_local_table_to_metadata('notification_channels');
select citus_add_local_table_to_metadata('notification_items');
select citus_add_local_table_to_metadata('notification_messages');
select citus_add_local_table_to_metadata('oauth_clients');
select citus_add_local_table_to_metadata('oauth_records');
select citus_add_local_table_to_metadata('presence_nodes');
select citus_add_local_table_to_metadata('presence');
select citus_add_local_table_to_metadata('rate_limits');
select citus_add_local_table_to_metadata('removed_contacts');
select citus_add_local_table_to_metadata('schema_migrations');
select citus_add_local_table_to_metadata('schema_migrations_lock');
select citus_add_local_table_to_metadata('sessions');
select citus_add_local_table_to_metadata('signing_keys');
select citus_add_local_table_to_metadata('stream_tickets');
select citus_add_local_table_to_metadata('uploads');
select citus_add_local_table_to_metadata('worker_nodes');

-- The key that step 3 dropped: both tables are distributed by thread now.
alter table thread_members add constraint thread_members_thread_id_foreign foreign key (thread_id) references threads (id);

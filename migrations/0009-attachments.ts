import type { Knex } from 'knex';

/**
 * Uploaded files. Their bytes are in the blob store under `storage_key`, which is random: it reveals nothing and clients cannot choose it.
 * A file belongs to no message until it is sent.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table attachments (
      id text collate "C" primary key,
      uploader_id text collate "C" not null references agents,
      message_id text collate "C" references messages,
      storage_key text collate "C" not null,
      filename text not null,
      content_type text not null,
      size_bytes bigint not null check (size_bytes > 0),
      sha256 text collate "C" not null check (sha256 ~ '^[0-9a-f]{64}$'),
      scan_status text not null default 'pending' check (scan_status in ('pending', 'clean', 'infected', 'failed')),
      scanned_by text,
      created_at bigint not null,
      expires_at bigint,
      constraint attachments_storage_key_unique unique (storage_key),
      -- A scanner is recorded for clean and infected files only.
      check (scan_status <> 'pending' or scanned_by is null),
      check (scan_status not in ('clean', 'infected') or scanned_by is not null)
    );
    create index attachments_uploader on attachments (uploader_id);
    create index attachments_message on attachments (message_id) where message_id is not null;
    create index attachments_unsent on attachments (created_at) where message_id is null;
    create index attachments_expiry on attachments (expires_at) where expires_at is not null;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table attachments');
}

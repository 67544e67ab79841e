"""Link pages of Linktree."""

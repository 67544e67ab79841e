"""Jobs, companies, people, posts and articles of LinkedIn."""
